# Completion of `kubectl-dra ...` in fish. The program itself completes: it prints candidates, each with a description behind a
# tab, and a last line `:N` with cobra's directive.
function __kubectl_dra_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    set -l directive $lines[-1]
    set -e lines[-1]
    # Of `--flag=value` candidates are values.
    set -l flag (string match -r -- '^-[^=]*=' "$current"; or echo)
    for line in $lines
        printf '%s%s\n' "$flag" $line
    end
    switch $directive
        case :0
            __fish_complete_path "$current"
        case :16
            __fish_complete_directories "$current"
    end
end

complete -c kubectl-dra -f -a '(__kubectl_dra_complete)'
