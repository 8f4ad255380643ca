
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'kubectl-dra' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'kubectl-dra'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'kubectl-dra' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace to look at; by default the one of the current context, or all, as the command says')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace to look at; by default the one of the current context, or all, as the command says')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read objects from here instead of a cluster; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock''s')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format of the output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format of the output')
            [CompletionResult]::new('--sort-by', '--sort-by', [CompletionResultType]::ParameterName, 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'How much to log on stderr; 6 shows the requests')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'How much to log on stderr; 6 shows the requests')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to use')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context of the kubeconfig to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name in the server''s certificate, if it is not the host of its address')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'The certificate authority''s file')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'The client certificate''s file')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The client key''s file')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'The user name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'The password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user or service account to impersonate')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The UID to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Extra information to impersonate; may be repeated, also with the same key')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever')
            [CompletionResult]::new('--proxy-url', '--proxy-url', [CompletionResultType]::ParameterName, 'The proxy that requests go through')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Accepted because kubectl has it; nothing is cached')
            [CompletionResult]::new('--kubernetes-version', '--kubernetes-version', [CompletionResultType]::ParameterName, 'Apply the rules of this release instead of the server''s or the file''s')
            [CompletionResult]::new('--feature-gates', '--feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`')
            [CompletionResult]::new('--scheduler-feature-gates', '--scheduler-feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of kube-scheduler')
            [CompletionResult]::new('--kcm-feature-gates', '--kcm-feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of kube-controller-manager')
            [CompletionResult]::new('--apiserver-feature-gates', '--apiserver-feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of kube-apiserver')
            [CompletionResult]::new('--kubelet-feature-gates', '--kubelet-feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of the kubelets')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Look at all namespaces, even if one is given')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Look at all namespaces, even if one is given')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'End at the first malformed object instead of warning and leaving it out')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Leave out the line of column names')
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'After the table, print what changes, until interrupted')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'After the table, print what changes, until interrupted')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the result and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the result and errors')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate, which makes the connection insecure')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask the server not to compress its answers')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version of this program')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print a completion script')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-dra;version' {
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas')
            [CompletionResult]::new('--sort-by', '--sort-by', [CompletionResultType]::ParameterName, 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace to look at; by default the one of the current context, or all, as the command says')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace to look at; by default the one of the current context, or all, as the command says')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read objects from here instead of a cluster; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock''s')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format of the output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format of the output')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'How much to log on stderr; 6 shows the requests')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'How much to log on stderr; 6 shows the requests')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to use')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context of the kubeconfig to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name in the server''s certificate, if it is not the host of its address')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'The certificate authority''s file')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'The client certificate''s file')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The client key''s file')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'The user name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'The password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user or service account to impersonate')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The UID to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Extra information to impersonate; may be repeated, also with the same key')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever')
            [CompletionResult]::new('--proxy-url', '--proxy-url', [CompletionResultType]::ParameterName, 'The proxy that requests go through')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Accepted because kubectl has it; nothing is cached')
            [CompletionResult]::new('--kubernetes-version', '--kubernetes-version', [CompletionResultType]::ParameterName, 'Apply the rules of this release instead of the server''s or the file''s')
            [CompletionResult]::new('--feature-gates', '--feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`')
            [CompletionResult]::new('--scheduler-feature-gates', '--scheduler-feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of kube-scheduler')
            [CompletionResult]::new('--kcm-feature-gates', '--kcm-feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of kube-controller-manager')
            [CompletionResult]::new('--apiserver-feature-gates', '--apiserver-feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of kube-apiserver')
            [CompletionResult]::new('--kubelet-feature-gates', '--kubelet-feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of the kubelets')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Only the version of this program, without asking a server for its own')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Leave out the line of column names')
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'After the table, print what changes, until interrupted')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'After the table, print what changes, until interrupted')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Look at all namespaces, even if one is given')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Look at all namespaces, even if one is given')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'End at the first malformed object instead of warning and leaving it out')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the result and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the result and errors')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate, which makes the connection insecure')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask the server not to compress its answers')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-dra;completion' {
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The format of the output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The format of the output')
            [CompletionResult]::new('--sort-by', '--sort-by', [CompletionResultType]::ParameterName, 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace to look at; by default the one of the current context, or all, as the command says')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace to look at; by default the one of the current context, or all, as the command says')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Read objects from here instead of a cluster; may be repeated')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock''s')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'How much to log on stderr; 6 shows the requests')
            [CompletionResult]::new('--v', '--v', [CompletionResultType]::ParameterName, 'How much to log on stderr; 6 shows the requests')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file to use')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context of the kubeconfig to use')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'The address of the API server')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The address of the API server')
            [CompletionResult]::new('--tls-server-name', '--tls-server-name', [CompletionResultType]::ParameterName, 'The name in the server''s certificate, if it is not the host of its address')
            [CompletionResult]::new('--certificate-authority', '--certificate-authority', [CompletionResultType]::ParameterName, 'The certificate authority''s file')
            [CompletionResult]::new('--client-certificate', '--client-certificate', [CompletionResultType]::ParameterName, 'The client certificate''s file')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The client key''s file')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'The bearer token to authenticate with')
            [CompletionResult]::new('--username', '--username', [CompletionResultType]::ParameterName, 'The user name for basic authentication')
            [CompletionResult]::new('--password', '--password', [CompletionResultType]::ParameterName, 'The password for basic authentication')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'The user or service account to impersonate')
            [CompletionResult]::new('--as-uid', '--as-uid', [CompletionResultType]::ParameterName, 'The UID to impersonate')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'A group to impersonate; may be repeated')
            [CompletionResult]::new('--as-user-extra', '--as-user-extra', [CompletionResultType]::ParameterName, 'Extra information to impersonate; may be repeated, also with the same key')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever')
            [CompletionResult]::new('--proxy-url', '--proxy-url', [CompletionResultType]::ParameterName, 'The proxy that requests go through')
            [CompletionResult]::new('--cache-dir', '--cache-dir', [CompletionResultType]::ParameterName, 'Accepted because kubectl has it; nothing is cached')
            [CompletionResult]::new('--kubernetes-version', '--kubernetes-version', [CompletionResultType]::ParameterName, 'Apply the rules of this release instead of the server''s or the file''s')
            [CompletionResult]::new('--feature-gates', '--feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`')
            [CompletionResult]::new('--scheduler-feature-gates', '--scheduler-feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of kube-scheduler')
            [CompletionResult]::new('--kcm-feature-gates', '--kcm-feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of kube-controller-manager')
            [CompletionResult]::new('--apiserver-feature-gates', '--apiserver-feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of kube-apiserver')
            [CompletionResult]::new('--kubelet-feature-gates', '--kubelet-feature-gates', [CompletionResultType]::ParameterName, 'Feature gates of the kubelets')
            [CompletionResult]::new('--no-headers', '--no-headers', [CompletionResultType]::ParameterName, 'Leave out the line of column names')
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'After the table, print what changes, until interrupted')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'After the table, print what changes, until interrupted')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Look at all namespaces, even if one is given')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Look at all namespaces, even if one is given')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'End at the first malformed object instead of warning and leaving it out')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but the result and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but the result and errors')
            [CompletionResult]::new('--insecure-skip-tls-verify', '--insecure-skip-tls-verify', [CompletionResultType]::ParameterName, 'Do not check the server''s certificate, which makes the connection insecure')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask the server not to compress its answers')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'kubectl-dra;help' {
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version of this program')
            [CompletionResult]::new('completion', 'completion', [CompletionResultType]::ParameterValue, 'Print a completion script')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'kubectl-dra;help;version' {
            break
        }
        'kubectl-dra;help;completion' {
            break
        }
        'kubectl-dra;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
