" Vim syntax of dtj, edition 1.
if exists('b:current_syntax')
  finish
endif

syn keyword dtjDeclaration dtj import bind const dim record enum module param buffer state sub fn job extends test
syn keyword dtjControl where when let mut for return check if else
syn keyword dtjOperatorWord as and or not div divides in
syn keyword dtjConstant true false none self
syn keyword dtjType act par acc f16 f32 f64 bf16 i32 i64 bool int string duration

syn match dtjNumber '\<\d[0-9_]*\(\.\d[0-9_]*\)\?\([eE][+-]\?\d\+\)\?\>'
syn match dtjNumber '\<0x[0-9a-fA-F_]\+\>'
syn match dtjQuantity '\<\d[0-9_]*\(\.\d[0-9_]*\)\?\([eE][+-]\?\d\+\)\?\(%\|\(ns\|us\|ms\|s\|min\|h\|d\|B\|kB\|MB\|GB\|TB\|KiB\|MiB\|GiB\|TiB\|tok\|Ktok\|Mtok\|Gtok\|Ttok\|step\|epoch\|sample\|Mbps\|Gbps\|MBps\|GBps\|TBps\)\>\)'
syn match dtjPlaceholder '<[a-z][a-z0-9_]*>'
syn match dtjAttribute '^\s*@[A-Za-z_][A-Za-z0-9_.]*'
syn match dtjOperator '|>\|->\|\*\*\|\.\.\.\?'

syn match dtjEscape '\\.' contained
syn region dtjString start='"' skip='\\.' end='"' oneline contains=dtjEscape
syn match dtjComment '//.*$' contains=@Spell
syn region dtjComment start='/\*' end='\*/' contains=@Spell

hi def link dtjDeclaration Structure
hi def link dtjControl Conditional
hi def link dtjOperatorWord Operator
hi def link dtjConstant Constant
hi def link dtjType Type
hi def link dtjNumber Number
hi def link dtjQuantity Number
hi def link dtjPlaceholder Identifier
hi def link dtjAttribute PreProc
hi def link dtjOperator Operator
hi def link dtjEscape SpecialChar
hi def link dtjString String
hi def link dtjComment Comment

let b:current_syntax = 'dtj'
