au BufRead,BufNewFile *.dtj setfiletype dtj
au FileType dtj setlocal commentstring=//\ %s shiftwidth=2 expandtab
