#!/bin/sh
# Makes reservations ready for a downgrade of the control plane. `kubectl dra convert plan --to-version VERSION` prints all steps;
# this runs two of them.
#
#     pre-downgrade.sh before 1.36    step 2: convert, while the gates are on
#     pre-downgrade.sh final 1.36     step 4: convert again, once DRAWorkloadResourceClaims is off in every scheduler and
#                                     controller manager and their old processes have ended
#
# Ends with
#     0    continue with the next step
#     1    something needs a decision: see `kubectl dra convert plan`
#     2    the command line cannot be understood
#     3    the cluster or its API failed, or a right is missing: run it again
#     4    something could not be found out, and nothing was written
# Only exit codes decide; what is printed is for people. It may be run again at any time.
set -u

case ${1-} in
    before | final) ;;
    *)
        echo "usage: $0 before|final VERSION" >&2
        exit 2
        ;;
esac
if [ $# -ne 2 ]; then
    echo "usage: $0 before|final VERSION" >&2
    exit 2
fi
phase=$1
version=$2
gates_off='DRAWorkloadResourceClaims=false'

if [ "$phase" = before ]; then
    kubectl dra convert --to-version "$version" --wait --timeout 10m --yes
else
    kubectl dra convert --to-version "$version" --final --settle 30s --yes \
        --scheduler-feature-gates "$gates_off" --kcm-feature-gates "$gates_off"
fi
code=$?
if [ $code -gt 1 ]; then
    echo "convert failed with exit code $code: nothing is ready" >&2
    exit $code
fi

# The proof reads the cluster again.
kubectl dra convert verify
proof=$?
case $proof in
    0) echo "ready: every claim is reserved for the pods that use it, and for nothing else" ;;
    1) echo "not ready: see above, and kubectl dra convert plan --to-version $version -o wide" >&2 ;;
    *) echo "verify failed with exit code $proof" >&2 ;;
esac
exit $proof
