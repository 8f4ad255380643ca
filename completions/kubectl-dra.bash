# Completion of `kubectl-dra ...` in bash. The program itself completes: it prints candidates, each with a description behind a
# tab, and a last line `:N` with cobra's directive.
_kubectl_dra() {
    local rest=${COMP_LINE:0:COMP_POINT} words=() last= count=0 after i

    # Bash splits words at `=` and `:` too. What stands together is one word for the program.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        after=${rest#"${rest%%[![:space:]]*}"}
        last=${COMP_WORDS[i]}
        # The word under the cursor ends there.
        ((i == COMP_CWORD)) && last=$after
        if ((i == 0)) || [[ $after != "$rest" || -z $last ]]; then
            words[count++]=$last
        else
            words[count - 1]+=$last
        fi
        rest=${after#"$last"}
    done

    # Of `--flag=value` candidates are values. Bash replaces what stands behind the last `=` or `:`.
    local value=${words[count - 1]} kept
    [[ $value == -*=* ]] && value=${value#*=}
    [[ $last == [=:] ]] && last=
    kept=${value%"$last"}

    local line directive=:4 tab=$'\t'
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :[0-9]* ]]; then
            directive=$line
        else
            line=${line%%"$tab"*}
            COMPREPLY+=("${line#"$kept"}")
        fi
    done < <("${words[0]}" __complete "${words[@]:1:count-1}" 2>/dev/null)

    case $directive in
    :0)
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$last")
        type compopt &>/dev/null && compopt -o filenames
        ;;
    :6) type compopt &>/dev/null && compopt -o nospace ;;
    :16)
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$last")
        type compopt &>/dev/null && compopt -o filenames
        ;;
    esac
}

complete -F _kubectl_dra kubectl-dra
