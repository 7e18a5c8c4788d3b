# What docs/deploying-cloud.md and the runbooks use. In the directory of the project:
#
#   . terraform/commands.sh
#
# shellcheck shell=bash

SETTINGS=${RECONCILED_SITES:-terraform/environments/sites.tfvars.json}

# What the settings say:   setting .domain
setting() { jq -r "$1" "$SETTINGS"; }

# Changes the settings, and shows what is changed:   change '.sites.ireland.tier.database = "hot"'
# A misspelt key is refused by the next plan.
change() {
    jq "$1" "$SETTINGS" >"$SETTINGS.new" || return 1
    diff "$SETTINGS" "$SETTINGS.new" || true
    mv "$SETTINGS.new" "$SETTINGS"
}

region_of() { jq -r --arg site "$1" '.sites[$site].region // error("unknown site " + $site)' "$SETTINGS"; } # SITE
other_of() { jq -r --arg site "$1" '.sites | keys[] | select(. != $site)' "$SETTINGS"; }                    # SITE

# What a site's commands need:   site_output ireland .store_url
site_output() { terraform/run "$1" output -json site | jq -r "$2"; }

# The program in a pod of the site HERE, so that the commands of the runbooks are the same in the cloud.
reconciled() {
    kubectl --context "reconciled-${HERE:?give the site: export HERE=ireland}" --namespace reconciled \
        exec deployment/reconciled-batch -- /usr/bin/reconciled "$@"
}

# The secrets of a site's own region, into a directory in memory, and from there into the Secret that its pods mount. The
# authorities of RDS come from deploy/sites, because a site that must come up cannot wait for somebody's web server.
site_secrets() ( # SITE
    set -eu
    context=reconciled-$1 region=$(region_of "$1")
    names="store-password witness-password $(setting '.providers_of_payments[] | "provider-\(.)-token"' | tr '\n' ' ')"
    cp deploy/sites/database-ca.pem "${directory:=$(mktemp -d -p /dev/shm)}"
    trap 'rm -rf "$directory"' EXIT
    cp "$directory/database-ca.pem" "$directory/witness-ca.pem"
    for name in $names; do
        aws secretsmanager get-secret-value --region "$region" --secret-id "reconciled/$name" --query SecretString --output text |
            tr -d '\n' >"$directory/$name"
        [ -s "$directory/$name" ] || { echo "the secret reconciled/$name has no value in $region" >&2 && exit 1; }
    done
    aws eks update-kubeconfig --region "$region" --name "$context" --alias "$context"
    kubectl --context "$context" create namespace reconciled --dry-run=client --output yaml | kubectl --context "$context" apply -f -
    kubectl --context "$context" --namespace reconciled create secret generic reconciled-secrets --from-file="$directory" \
        --dry-run=client --output yaml | kubectl --context "$context" apply --server-side -f -
)

# Ranges of addresses as a network policy names them.
blocks() { jq -c "[$1[] | {ipBlock: {cidr: .}}]"; } # FILTER

# A site's overlay, from its own state and from deploy/sites/shared.json: commit both, and a promotion needs no other region.
site_overlay() ( # SITE OVERLAY
    set -eu
    site=$1 peer=$(other_of "$1") outputs=$(terraform/run "$1" output -json site)
    mkdir -p "deploy/sites/$site"
    cat >"deploy/sites/$site/kustomization.yaml" <<END
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: reconciled
resources:
  - ../../k8s/overlays/$2
components:
  - ../../k8s/components/witness
configMapGenerator:
  - name: reconciled-site
    behavior: merge
    literals:
      - RECONCILED_SITE_NAME=$site
      - RECONCILED_SITE_PEER_NAME=$peer
      - RECONCILED_SITE_PEER_URL=https://$peer.$(setting .domain)
      - RECONCILED_SITE_REPLICATION=asynchronous
      - RECONCILED_SITE_COUNT_UNCONFIRMED_AFTER=10m
      - RECONCILED_SITE_WITNESS_URL=$(jq -r .witness_url.value deploy/sites/shared.json)
      - RECONCILED_OBJECTIVES_RTO=$(setting '.objectives.rto_minutes // 13')m
      - RECONCILED_OBJECTIVES_RPO=$(setting '.objectives.rpo_seconds // 60')s
      - RECONCILED_STORE_URL=$(jq -r .store_url <<<"$outputs")
patches:
  - target: {kind: NetworkPolicy, name: witness}
    patch: '[{"op": "replace", "path": "/spec/egress/0/to", "value": $(blocks .witness_cidrs.value <deploy/sites/shared.json)}]'
  - target: {kind: NetworkPolicy, name: database}
    patch: '[{"op": "replace", "path": "/spec/egress/0/to", "value": $(blocks .database_cidrs <<<"$outputs")}]'
  - target: {kind: NetworkPolicy, name: entry}
    patch: >-
      [{"op": "replace", "path": "/spec/ingress/0/from", "value": $(blocks .node_cidrs <<<"$outputs")},
      {"op": "replace", "path": "/spec/ingress/1/from", "value": $(blocks .entry_cidrs <<<"$outputs")}]
replacements:
  - source: {kind: ConfigMap, name: reconciled-site, fieldPath: data.RECONCILED_SITE_NAME}
    targets:
      - select: {kind: ServiceMonitor, name: reconciled}
        fieldPaths: [spec.endpoints.0.relabelings.0.replacement]
images:
  - name: reconciled
    newName: $(setting .account_id).dkr.ecr.$(region_of "$site").amazonaws.com/reconciled-$site
    newTag: ${RECONCILED_VERSION:-0.1.0}
END
)
