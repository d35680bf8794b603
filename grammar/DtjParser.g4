// The dtj language, edition 1, in the reading order of a job.
parser grammar DtjParser;
options { tokenVocab = DtjLexer; }

file        : edition? (importDecl | topDecl)* EOF ;
edition     : 'dtj' INT ';' ;
importDecl  : 'import' (path importSel? | STRING) ('as' name)? ';' ;
importSel   : '.' '{' name (',' name)* ','? '}' ;

topDecl     : bindDecl
            | constDecl
            | dimDecl
            | recordDecl
            | enumDecl
            | attr* (moduleDecl | fnDecl)
            | jobDecl
            | testDecl
            ;

// ---- declarations --------------------------------------------------------------------------------------------------

// A typed placeholder:  bind <partition>: slurm.partition "queue with 8-GPU nodes";
bindDecl    : 'bind' PLACEHOLDER ':' type ('=' expr)? ('where' expr)? STRING? ';' ;
constDecl   : 'const' name (':' type)? '=' expr ';' ;
dimDecl     : 'dim' name (',' name)* ('where' expr)? ';' ;
recordDecl  : 'record' name '{' recordField* '}' ;
recordField : name ':' type ('=' expr)? ';' ;
enumDecl    : 'enum' name '{' name (',' name)* ','? '}' ;

moduleDecl  : 'module' name params? where? '{' moduleItem* '}' ;
moduleItem  : constDecl | attr* (stateDecl | subDecl | fnDecl) ;
stateDecl   : kind=('param' | 'buffer' | 'state') name ':' type ('when' expr)? ('=' expr)? ';' ;
subDecl     : 'sub' name ('[' name 'in' expr ']')? ('when' expr)? '=' expr ';' ;

fnDecl      : 'fn' name params ('->' type)? where? (block | ';') ;
params      : '(' (param (',' param)* ','?)? ')' ;
param       : name (':' type)? ('=' expr)? ;
where       : 'where' expr (',' expr)* ;
attr        : '@' path args? ;

// ---- jobs ----------------------------------------------------------------------------------------------------------

jobDecl     : 'job' name ('extends' path)? '{' jobItem* '}' ;
jobItem     : constDecl | attr* fnDecl | setting | section ;
// launch { ... }, data train { ... }: which sections and keys there are is the checker's matter.
section     : name name? '{' sectionItem* '}' ;
sectionItem : setting | section ;
setting     : path '=' expr ';' ;

testDecl    : 'test' STRING block ;

// ---- types ---------------------------------------------------------------------------------------------------------

type        : simpleType '?'* ;
simpleType  : path dims? unreduced?
            | '(' type (',' type)+ ')'
            | '[' type ']'
            ;
dims        : '[' (dim (',' dim)*)? ']' ;
dim         : '..' name                  // a pack of leading dims
            | expr                       // a size; `C @ tp * dp` has mesh axes after `@`
            ;
unreduced   : '!' '(' name (',' name)* ')' ;

// ---- statements ----------------------------------------------------------------------------------------------------

// The value of a block is its last statement, if that is an expression without `;`.
block       : '{' loop* stmt? (';' loop* stmt?)* '}' ;
loop        : 'for' name 'in' expr block ;
stmt        : 'let' pattern (':' type)? '=' expr
            | 'mut' name (':' type)? '=' expr
            | 'return' expr
            | 'check' expr (',' expr)?
            | expr (assignOp expr)?
            ;
pattern     : name | '(' name (',' name)+ ')' ;
assignOp    : '=' | '+=' | '-=' | '*=' ;

// ---- expressions ---------------------------------------------------------------------------------------------------

// Casts and pipes bind loosest and go from left to right: `x as f32 |> softmax`.
expr        : operation exprStep* ;
exprStep    : 'as' type | '|>' operation ;

// From tight to loose. Comparisons do not chain, so that `<name>` can be a placeholder.
operation   : primary
            | operation op='.' name
            | operation args
            | operation op='[' index (',' index)* ']'
            | <assoc=right> operation op='**' operation
            | op=('-' | '!') operation
            | operation op=('*' | '/' | 'div' | '%' | '@') operation
            | operation op=('+' | '-') operation
            | operation op='..' operation
            | operation op=('==' | '!=' | '<' | '<=' | '>' | '>=' | 'divides') operation
            | op='not' operation
            | operation op=('and' | '&&') operation
            | operation op=('or' | '||') operation
            ;
args        : '(' (arg (',' arg)* ','?)? ')' ;
arg         : (name '=')? expr ;
index       : '...' | expr (':' expr?)? | ':' expr? ;

primary     : literal
            | PLACEHOLDER
            | name
            | 'self'
            | ifExpr
            | tuple
            | list
            | record
            ;
ifExpr      : 'if' expr block ('else' (block | ifExpr))? ;
tuple       : '(' expr (',' expr)* ','? ')' ;      // one expression without a comma: plain brackets
list        : '[' (expr (',' expr)* ','?)? ']' ;
record      : '{' (recordEntry (',' recordEntry)* ','?)? '}' ;
recordEntry : name '=' expr ;
literal     : INT | FLOAT | QUANTITY | STRING | 'true' | 'false' | 'none' ;

// ---- names ---------------------------------------------------------------------------------------------------------

path        : name ('.' name)* ;
// Words that open a declaration or a condition are names elsewhere: `data test { ... }`, `on = test`, `where(a, b, c)`.
name        : IDENT
            | 'bind' | 'dim' | 'record' | 'enum' | 'param' | 'buffer' | 'state' | 'sub' | 'extends' | 'test'
            | 'where' | 'when'
            ;
