# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_kubectl_dra_global_optspecs
    string join \n n/namespace= A/all-namespaces l/selector= from= strict complete allow-missing now= o/output= no-headers sort-by= w/watch color= ascii q/quiet v/v= kubeconfig= context= cluster= user= s/server= tls-server-name= insecure-skip-tls-verify certificate-authority= client-certificate= client-key= token= username= password= as= as-uid= as-group= as-user-extra= request-timeout= proxy-url= disable-compression cache-dir= kubernetes-version= feature-gates= scheduler-feature-gates= kcm-feature-gates= apiserver-feature-gates= kubelet-feature-gates= timeout= h/help V/version
end

function __fish_kubectl_dra_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_kubectl_dra_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_kubectl_dra_using_subcommand
    set -l cmd (__fish_kubectl_dra_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -s V -l version -d 'Print version'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "status" -d 'Show drivers, devices and claims of a cluster on one screen'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "claims" -d 'List ResourceClaims with their devices and consumers'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "reserved" -d 'List who ResourceClaims are reserved for, and what that really is'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "devices" -d 'List devices with their holders, what is left of them, their taints and their health'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "taints" -d 'List taints of devices with the claims and pods that they are about'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "describe" -d 'Describe one claim, pod, device, node, class or pool'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "check" -d 'Look for defects, for what keeps a driver in use, and for what a downgrade breaks'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "convert" -d 'Turn reservations that are not pods into lists of pods, before a downgrade'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "explain" -d 'Explain why a pod or a claim does not get its devices, and what would help'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "simulate" -d 'Simulate what would happen; nothing is changed'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "cel" -d 'Try a CEL selector: does the API server accept it, does the scheduler compile it, which devices match'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "run" -d 'Compare the built-in controllers for claims and taints with the rules, live, or do their work'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "snapshot" -d 'Write the state of the cluster into a file'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "version" -d 'Print the versions of this program and of the server'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "completion" -d 'Print a completion script'
complete -c kubectl-dra -n "__fish_kubectl_dra_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l state -d 'Only claims in this state: `pending`, `allocated`, `reserved` or `deleted`, several joined by commas, each also negated as in `allocated,!reserved`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l node -d 'Only claims whose allocation is for this node' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l driver -d 'Only claims with a device of this driver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l device -d 'Only claims with this device: `DEVICE`, `POOL/DEVICE` or `DRIVER/POOL/DEVICE`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l pod -d 'Only claims that this pod uses or is a consumer of: `NAME`, `NAMESPACE/NAME`, `pod/NAME` or `pod/NAMESPACE/NAME`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand claims" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand reserved" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l driver -d 'Only devices of this driver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l class -d 'Only devices of this class' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l selector -d 'Only devices that this CEL expression selects, as in a request of a claim' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l node -d 'Only devices that this node reaches' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l free -d 'Only devices that the scheduler would allocate to a request for any device: no claim holds them, and nothing else is in the way'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l tainted -d 'Only devices with a taint'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand devices" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand taints" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand describe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l explain -d 'Print what a code such as `DRA001` means and what to do about it, without looking at anything' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l suppressions -d 'Leave out the findings that this file accepts; each of them needs a reason and the last day on which it counts' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l fail-on -d 'From which severity on findings make the exit code 1' -r -f -a "error\t'Devices or pods are lost, or cannot be used'
warning\t'Works less than it should'
info\t'Anything that is found'
never\t'Nothing that is found'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l only -d 'Only findings with these codes or names, as in `DRA001` or `device-allocated-twice`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l skip -d 'All findings but those with these codes or names' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l idle -d 'For how long a claim may hold devices while no pod runs with it, as in `30m`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l driver -d 'Ask whether this driver can be uninstalled or drained now' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l node -d 'With `--driver`: only on this node' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l to-version -d 'Ask what a downgrade of the control plane to this release breaks' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l disable-gate -d 'Ask what breaks when this feature gate is switched off; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l target-feature-gates -d 'With `--to-version`: gates that the older control plane will be started with, as in `DRADeviceTaintRules=true`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l kind -d 'Instead of PodGroups entries of this kind, as `jobs.batch`, whose controller may object; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l entry -d 'With `--release-unused`: also where the object of this entry exists or cannot be looked up; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l to-version -d 'The release that the control plane goes back to' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l disable-gate -d 'The feature gate that is turned off; may be repeated' -r -f -a "DRAWorkloadResourceClaims\t'Claims of PodGroups; PodGroups stay'
GenericWorkload\t'PodGroups altogether'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l out -d 'With `--from`: the file to write, with the objects as they would be; compressed if its name ends in .gz or .zst. `-` is standard output, and the report then goes to standard error' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l settle -d 'Time between two passes' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l dry-run -d 'Write nothing: only print (`client`), or let the API server check every patch (`server`)' -r -f -a "none\t'Write'
client\t'Send nothing'
server\t'Let the API server check every patch and forget it'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l concurrency -d 'How many claims are written at once' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l backup -d 'The backup of every list that is replaced, for `convert restore`; by default in the directory for state of the user' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l journal -d 'The journal of every write; by default in the directory for state of the user' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l all-kinds -d 'Entries of every kind'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l include-generated -d 'Also claims that were made for a PodGroup, where only a gate goes off: they are freed when their pods end, but these get no new sandbox and taints do not evict them'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l release-unused -d 'Take the devices back of claims that no pod uses or could begin to, where the object of the entry is gone'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l force -d 'With `--out`: also over the file of `--from`, of which no other copy may exist'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l wait -d 'Wait for members that have no node yet, and convert again what the scheduler puts back; for as long as `--timeout` says'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l final -d 'The last passes: the gate DRAWorkloadResourceClaims is off in every scheduler and controller manager, which must be known'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -s y -l yes -d 'Do not ask before writing; needed without a terminal'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -a "plan" -d 'Say what is to be done with each claim that is reserved for something else than pods'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -a "apply" -d 'Carry out a plan that `convert plan -o json` has printed'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -a "verify" -d 'Verify that claims are reserved for the pods that use them and for nothing else'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -a "restore" -d 'Bring back the lists that a conversion replaced'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and not __fish_seen_subcommand_from plan apply verify restore help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l kind -d 'Instead of PodGroups entries of this kind, as `jobs.batch`, whose controller may object; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l entry -d 'With `--release-unused`: also where the object of this entry exists or cannot be looked up; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l to-version -d 'The release that the control plane goes back to' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l disable-gate -d 'The feature gate that is turned off; may be repeated' -r -f -a "DRAWorkloadResourceClaims\t'Claims of PodGroups; PodGroups stay'
GenericWorkload\t'PodGroups altogether'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l all-kinds -d 'Entries of every kind'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l include-generated -d 'Also claims that were made for a PodGroup, where only a gate goes off: they are freed when their pods end, but these get no new sandbox and taints do not evict them'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l release-unused -d 'Take the devices back of claims that no pod uses or could begin to, where the object of the entry is gone'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l plan -d 'The plan; `-` is standard input' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l settle -d 'Time between two passes' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l dry-run -d 'Write nothing: only print (`client`), or let the API server check every patch (`server`)' -r -f -a "none\t'Write'
client\t'Send nothing'
server\t'Let the API server check every patch and forget it'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l concurrency -d 'How many claims are written at once' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l backup -d 'The backup of every list that is replaced, for `convert restore`; by default in the directory for state of the user' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l journal -d 'The journal of every write; by default in the directory for state of the user' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l wait -d 'Wait for members that have no node yet, and convert again what the scheduler puts back; for as long as `--timeout` says'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l final -d 'The last passes: the gate DRAWorkloadResourceClaims is off in every scheduler and controller manager, which must be known'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -s y -l yes -d 'Do not ask before writing; needed without a terminal'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l kind -d 'Instead of PodGroups entries of this kind, as `jobs.batch`, whose controller may object; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l all-kinds -d 'Entries of every kind'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l backup -d 'The backup that the conversion has written' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l journal -d 'The journal of that conversion; by default the file beside the backup' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l dry-run -d 'Write nothing: only print (`client`), or let the API server check every patch (`server`)' -r -f -a "none\t'Write'
client\t'Send nothing'
server\t'Let the API server check every patch and forget it'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -s y -l yes -d 'Do not ask before writing; needed without a terminal'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from help" -f -a "plan" -d 'Say what is to be done with each claim that is reserved for something else than pods'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from help" -f -a "apply" -d 'Carry out a plan that `convert plan -o json` has printed'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Verify that claims are reserved for the pods that use them and for nothing else'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from help" -f -a "restore" -d 'Bring back the lists that a conversion replaced'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand convert; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -s f -l filename -d 'Explain the pods and workloads, or else the claims, of this manifest; may be repeated, `-` is standard input' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l emit-fix -d 'Print the objects that this fix makes again as manifests, for `kubectl replace --force -f -`, instead of the report' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l budget -d 'Steps that all searches of the command may take together; what is undecided then is given up' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -f -a "allocation" -d 'Say whether claims and pods fit, on which nodes, and with which devices'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -f -a "fit" -d 'Say whether claims and pods fit, on which nodes, and with which devices'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -f -a "eviction" -d 'Simulate which pods the taints of devices drive away, when, and what follows'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and not __fish_seen_subcommand_from allocation fit eviction help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -s f -l filename -d 'Judge the claims, pods and workloads of this manifest; may be repeated, `-` is standard input' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l node -d 'Only on this node; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l release -d 'As if this claim were deallocated: `claim/NAME`; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l taint -d 'As if drivers had tainted devices: `DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT`, `*` for any; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l untaint -d 'As if devices had lost one: `DRIVER/POOL/DEVICE=KEY[:EFFECT]`, or `rule/NAME`; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l add-node -d 'As if the nodes and resource slices of this file were there; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l remove-node -d 'As if this node and its slices were gone; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l budget -d 'Steps that all searches of the command may take together; what is undecided then is given up' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l max -d 'Say how many copies fit, and what runs out first; of several pods, of the first'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from allocation" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -s f -l filename -d 'Judge the claims, pods and workloads of this manifest; may be repeated, `-` is standard input' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l node -d 'Only on this node; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l release -d 'As if this claim were deallocated: `claim/NAME`; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l taint -d 'As if drivers had tainted devices: `DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT`, `*` for any; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l untaint -d 'As if devices had lost one: `DRIVER/POOL/DEVICE=KEY[:EFFECT]`, or `rule/NAME`; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l add-node -d 'As if the nodes and resource slices of this file were there; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l remove-node -d 'As if this node and its slices were gone; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l budget -d 'Steps that all searches of the command may take together; what is undecided then is given up' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l max -d 'Say how many copies fit, and what runs out first; of several pods, of the first'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from fit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l taint -d 'Let drivers taint devices too: `DRIVER/POOL/DEVICE=KEY[=VALUE]:EFFECT`, `*` for any; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l rule -d 'Add the DeviceTaintRules of this file, or `-`; may be given several times' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l node -d 'Taint the devices that only this node reaches' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l driver -d 'Taint the devices of this driver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l pool -d 'Taint the devices of this pool' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l device -d 'Taint the device of this name' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l key -d 'The taint that the chosen devices get, which tolerations are compared with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l toleration-report -d 'Show also who tolerates which taint until when'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l emit-rule -d 'Print the DeviceTaintRules of the flags as manifests instead, with the effect None, so that the controller counts first'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l fail-on-eviction -d 'End with exit code 1 when a pod has to go'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from eviction" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from help" -f -a "allocation" -d 'Say whether claims and pods fit, on which nodes, and with which devices'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from help" -f -a "eviction" -d 'Simulate which pods the taints of devices drive away, when, and what follows'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand simulate; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l class -d 'Only devices of this class' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l driver -d 'Only devices of this driver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l node -d 'Only devices that this node reaches' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand cel" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l for -d 'End after this time; without it, go on until Ctrl-C' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l overdue -d 'From when on something undone is overdue [default: 30s]' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l recheck -d 'How often to find out whether versions, served kinds and gates are still those that the rules were made for; if not, end, so that the next start goes by what is true then; 0s for never [default: 1m]' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l until -d 'With `--from`: for how long the controllers are rehearsed, on a virtual clock that starts when the files were written' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l out -d 'With `--from`: the file to write, with the objects as they are at the end; compressed if its name ends in .gz or .zst. `-` is standard output, and the report then goes to standard error' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l controllers -d 'Controllers to run [possible values: resourceclaim-controller, device-taint-eviction-controller]' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l observe -d 'How long to watch first whether the built-in controllers are really off' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l workers -d 'Jobs of a controller that may be under way at once [default: resourceclaim=50,device-taint-eviction=8]' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l eviction-limit -d 'Evict nobody because of a DeviceTaintRule that would take away more pods than this; its condition and an event say so' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l fix -d 'What to do better than kube-controller-manager, as in extended-resource-eviction; with a minus what to do as it does although that is wrong, as in -terminal-reservations' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l supplement -d 'Beside the built-in controllers, write what they never do or have left undone, once it is overdue: extended-resource-eviction, overdue-release' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l lease -d 'Work only while holding this Lease, so that several replicas can stand by [default: kube-system/kubectl-dra-run, of a supplement kube-system/kubectl-dra-supplement]' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l kube-api-qps -d 'Requests per second of each controller, or of the supplement; 0 for no limit' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l kube-api-burst -d 'Requests that each of them may send at once' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l log-format -d 'How the lines on stderr look; the report on stdout stays what it is' -r -f -a "text\t'For people'
json\t'One JSON object per line, for collectors'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l metrics-address -d 'Serve /healthz, /readyz and /metrics here, as in `:8080` or `127.0.0.1:8080`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l take-over -d 'Do the work of the built-in controllers, which have to be off'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l assume-builtin-disabled -d 'Do not watch first: the built-in controllers are known to be off'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l collect-orphans -d 'Also delete claims whose pod is gone, where no garbage collector runs'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l no-lease -d 'Work without a Lease: no other replica runs'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l dry-run -d 'Send each write once as a dry run of the server, which keeps nothing'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l out -d 'The file to write; compressed if its name ends in .gz or .zst. Without it or with `-`, standard output' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l no-redact -d 'Keep everything as the API server sends it, secrets included'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand snapshot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l client -d 'Only the version of this program, without asking a server for its own'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -s l -l selector -d 'Only objects with these labels: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -s o -l output -d 'The format of the output' -r -f -a "table\t'A table or text for people'
wide\t'The table with more columns'
json\t'JSON, as described in docs/schema'
yaml\t'The same as YAML'
name\t'Names only, one per line'
sarif\t'Of `check`: for code scanners'
junit\t'Of `check`: for CI servers'
github\t'Of `check`: annotations of a workflow of GitHub'
markdown\t'Of `check`: for a comment or an issue'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l sort-by -d 'Sort by a column, as in `NODE`, or by a field of the JSON items, as in `.node` or `{.devices[0].driver}`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -s n -l namespace -d 'The namespace to look at; by default the one of the current context, or all, as the command says' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l from -d 'Read objects from here instead of a cluster; may be repeated' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l now -d 'The time to count ages and deadlines from, as in `2026-08-01T12:00:00Z`, instead of the clock\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colors pipes too'
always\t'Always'
never\t'Never'"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -s v -l v -d 'How much to log on stderr; 6 shows the requests' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l kubeconfig -d 'The kubeconfig file to use' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l context -d 'The context of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l cluster -d 'The cluster of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l user -d 'The user of the kubeconfig to use' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -s s -l server -d 'The address of the API server' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l tls-server-name -d 'The name in the server\'s certificate, if it is not the host of its address' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l certificate-authority -d 'The certificate authority\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l client-certificate -d 'The client certificate\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l client-key -d 'The client key\'s file' -r -F
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l token -d 'The bearer token to authenticate with' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l username -d 'The user name for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l password -d 'The password for basic authentication' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l as -d 'The user or service account to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l as-uid -d 'The UID to impersonate' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l as-group -d 'A group to impersonate; may be repeated' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l as-user-extra -d 'Extra information to impersonate; may be repeated, also with the same key' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l request-timeout -d 'How long one request may take: seconds, or as in `1m30s`; 0 is for ever' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l proxy-url -d 'The proxy that requests go through' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l cache-dir -d 'Accepted because kubectl has it; nothing is cached' -r -f -a "(__fish_complete_directories)"
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l kubernetes-version -d 'Apply the rules of this release, as in `1.37` or `1.36.2`, instead of the server\'s or the file\'s' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l feature-gates -d 'Feature gates of all components, as in `DRADeviceTaints=true,DRAPartitionableDevices=false`' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l scheduler-feature-gates -d 'Feature gates of kube-scheduler' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l kcm-feature-gates -d 'Feature gates of kube-controller-manager' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l apiserver-feature-gates -d 'Feature gates of kube-apiserver' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l kubelet-feature-gates -d 'Feature gates of the kubelets' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l timeout -d 'End after this long, whatever is being read or computed: seconds, or as in `1m30s`; 0 is never' -r
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l no-headers -d 'Leave out the line of column names'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -s w -l watch -d 'After the table, print what changes, until interrupted'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -s A -l all-namespaces -d 'Look at all namespaces, even if one is given'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l strict -d 'End at the first malformed object instead of warning and leaving it out'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l complete -d 'Take what --from names for the whole cluster: a kind of which it says nothing has no objects'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l allow-missing -d 'Take a name that nothing has for no error: warn, and judge what there is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l ascii -d 'Draw with characters of ASCII only'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -s q -l quiet -d 'Print nothing but the result and errors'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l insecure-skip-tls-verify -d 'Do not check the server\'s certificate, which makes the connection insecure'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -l disable-compression -d 'Ask the server not to compress its answers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand completion" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "status" -d 'Show drivers, devices and claims of a cluster on one screen'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "claims" -d 'List ResourceClaims with their devices and consumers'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "reserved" -d 'List who ResourceClaims are reserved for, and what that really is'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "devices" -d 'List devices with their holders, what is left of them, their taints and their health'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "taints" -d 'List taints of devices with the claims and pods that they are about'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "describe" -d 'Describe one claim, pod, device, node, class or pool'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "check" -d 'Look for defects, for what keeps a driver in use, and for what a downgrade breaks'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "convert" -d 'Turn reservations that are not pods into lists of pods, before a downgrade'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "explain" -d 'Explain why a pod or a claim does not get its devices, and what would help'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "simulate" -d 'Simulate what would happen; nothing is changed'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "cel" -d 'Try a CEL selector: does the API server accept it, does the scheduler compile it, which devices match'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "run" -d 'Compare the built-in controllers for claims and taints with the rules, live, or do their work'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "snapshot" -d 'Write the state of the cluster into a file'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "version" -d 'Print the versions of this program and of the server'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "completion" -d 'Print a completion script'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and not __fish_seen_subcommand_from status claims reserved devices taints describe check convert explain simulate cel run snapshot version completion help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and __fish_seen_subcommand_from convert" -f -a "plan" -d 'Say what is to be done with each claim that is reserved for something else than pods'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and __fish_seen_subcommand_from convert" -f -a "apply" -d 'Carry out a plan that `convert plan -o json` has printed'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and __fish_seen_subcommand_from convert" -f -a "verify" -d 'Verify that claims are reserved for the pods that use them and for nothing else'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and __fish_seen_subcommand_from convert" -f -a "restore" -d 'Bring back the lists that a conversion replaced'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and __fish_seen_subcommand_from simulate" -f -a "allocation" -d 'Say whether claims and pods fit, on which nodes, and with which devices'
complete -c kubectl-dra -n "__fish_kubectl_dra_using_subcommand help; and __fish_seen_subcommand_from simulate" -f -a "eviction" -d 'Simulate which pods the taints of devices drive away, when, and what follows'
