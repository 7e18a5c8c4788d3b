# shellcheck shell=bash
# The target "aws": two sites that terraform/ made. Pods are as on the target "kubernetes", which this one extends;
# databases are RDS instances. Written against the AWS command line's reference, and not run: this project had no
# account.
# What was shown is that the same calls are accepted by an emulation (terraform/README.md).
#
#   DRILL_REGIONS       site=region pairs: "a=eu-central-1 b=eu-west-1" (required)
#   DRILL_INSTANCES     member=instance pairs: "a1=reconciled-frankfurt b1=reconciled-ireland" (required)
#   and what drills/targets/kubernetes.sh wants, but for DRILL_DATABASE
# shellcheck source=drills/targets/kubernetes.sh
source drills/targets/kubernetes.sh

declare -A REGION=() INSTANCE=()

target_check() {
    local pair name
    for name in DRILL_REGIONS DRILL_INSTANCES; do
        [[ -n ${!name:-} ]] || unable "$name is not set; drills/targets/aws.sh says what it is"
    done
    command -v aws >/dev/null || unable "aws is missing"
    for pair in $DRILL_REGIONS; do REGION[${pair%%=*}]=${pair#*=}; done
    for pair in $DRILL_INSTANCES; do INSTANCE[${pair%%=*}]=${pair#*=}; done
    aws sts get-caller-identity >/dev/null || unable "aws: nobody is logged in"
    kubernetes_check
}

rds() {
    local member=$1 verb=$2
    shift 2
    aws rds "$verb" --region "${REGION[${member:0:1}]}" --db-instance-identifier "${INSTANCE[$member]}" "$@"
}
status_of() { rds "$1" describe-db-instances --query 'DBInstances[0].DBInstanceStatus' --output text; }
available() { [[ $(status_of "$1") == available ]]; }

# The second zone takes over by itself: that is the failover within a site.
member_kill() { rds "$1" reboot-db-instance --force-failover >/dev/null; }
member_stop() { rds "$1" reboot-db-instance --force-failover >/dev/null; }
member_start() { await 1800 "$1 is available" available "$1"; }

# RDS promotes; `reconciled site promote` then finds the database promoted already.
member_promote() {
    rds "$1" promote-read-replica >/dev/null
    await 1800 "$1 is available" available "$1"
}
# There is no pg_rewind on RDS: the former primary is deleted and made anew as a replica, by terraform.
member_rejoin() { unable "on AWS a former primary is rebuilt by terraform: docs/deploying-cloud.md, Failback"; }
follows() {
    local query='DBInstances[0].StatusInfos[0].Normal'
    [[ $(rds "$1" describe-db-instances --query "$query" --output text) == True ]]
}
