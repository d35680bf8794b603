// Tokens of the dtj language, edition 1.
lexer grammar DtjLexer;

// ---- words ---------------------------------------------------------------------------------------------------------
// Words of declarations may also name settings, sections, fields and arguments: see `name` in DtjParser.g4.
DTJ     : 'dtj' ;
IMPORT  : 'import' ;
BIND    : 'bind' ;
CONST   : 'const' ;
DIM     : 'dim' ;
RECORD  : 'record' ;
ENUM    : 'enum' ;
MODULE  : 'module' ;
PARAM   : 'param' ;
BUFFER  : 'buffer' ;
STATE   : 'state' ;
SUB     : 'sub' ;
FN      : 'fn' ;
JOB     : 'job' ;
EXTENDS : 'extends' ;
TEST    : 'test' ;
WHERE   : 'where' ;
WHEN    : 'when' ;
LET     : 'let' ;
MUT     : 'mut' ;
FOR     : 'for' ;
IN      : 'in' ;
RETURN  : 'return' ;
CHECK   : 'check' ;
IF      : 'if' ;
ELSE    : 'else' ;
AS      : 'as' ;
AND     : 'and' ;
OR      : 'or' ;
NOT     : 'not' ;
DIV     : 'div' ;
DIVIDES : 'divides' ;
TRUE    : 'true' ;
FALSE   : 'false' ;
NONE    : 'none' ;
SELF    : 'self' ;

// ---- signs ---------------------------------------------------------------------------------------------------------
LBRACE : '{' ;
RBRACE : '}' ;
LPAREN : '(' ;
RPAREN : ')' ;
LBRACK : '[' ;
RBRACK : ']' ;
SEMI   : ';' ;
COMMA  : ',' ;
COLON  : ':' ;
DOT    : '.' ;
RANGE  : '..' ;
DOTS   : '...' ;
ARROW  : '->' ;
PIPE   : '|>' ;
QUEST  : '?' ;
BANG   : '!' ;
ASSIGN : '=' ;
PLUS_ASSIGN  : '+=' ;
MINUS_ASSIGN : '-=' ;
TIMES_ASSIGN : '*=' ;
EQ      : '==' ;
NE      : '!=' ;
LE      : '<=' ;
GE      : '>=' ;
LT      : '<' ;
GT      : '>' ;
AND_AND : '&&' ;
OR_OR   : '||' ;
POW     : '**' ;
PLUS    : '+' ;
MINUS   : '-' ;
STAR    : '*' ;
SLASH   : '/' ;
PERCENT : '%' ;
AT      : '@' ;

// ---- values --------------------------------------------------------------------------------------------------------
PLACEHOLDER : '<' [a-z] [a-z0-9_]* '>' ;
INT         : DEC | '0x' [0-9a-fA-F_]+ ;
FLOAT       : DEC '.' DEC EXP? | DEC EXP ;
// A unit touches its number: 30min, 16GiB, 2.5%. Which units there are is the checker's matter.
QUANTITY    : DEC ('.' DEC)? EXP? UNIT ;
STRING      : '"' STRING_CHAR* '"' ;
IDENT       : [A-Za-z_] [A-Za-z0-9_]* ;

fragment DEC : [0-9] [0-9_]* ;
fragment EXP : [eE] [+\-]? [0-9]+ ;
fragment UNIT : [A-Za-z]+ | '%' ;
fragment STRING_CHAR : '\\' ~[\r\n] | ~["\\\r\n] ;

// ---- space ---------------------------------------------------------------------------------------------------------
LINE_COMMENT  : '//' ~[\r\n]* -> channel(HIDDEN) ;
BLOCK_COMMENT : '/*' .*? '*/' -> channel(HIDDEN) ;
WS            : [ \t\r\n]+ -> skip ;

// ---- mistakes ------------------------------------------------------------------------------------------------------
// The parser never sees these: they are reported, and mended or dropped, before it starts.
OPEN_STRING  : '"' STRING_CHAR* '\\'? ;
OPEN_COMMENT : '/*' ;
UNKNOWN      : . ;
