# What a promotion of this site must do, as its tiers are now. docs/deploying-cloud.md says how each step is done.

locals {
  overlay = local.is_active ? "active" : { on_demand = null, warm = "standby-warm", hot = "standby-hot" }[var.tier.workload]

  database_step = {
    on_demand = "restore the database from the backups in ${var.region}: database = hot, and restore.of = the ARN that `aws rds describe-db-instance-automated-backups --region ${var.region}` names"
    warm      = "promote the replica ${local.id}: database_promoted = true, and database = hot for a second zone and its full size"
    hot       = "promote the replica ${local.id}: database_promoted = true"
  }[var.tier.database]

  cluster_step = {
    on_demand = "create the cluster: cluster = hot"
    warm      = "start the nodes: cluster = hot"
    hot       = null
  }[var.tier.cluster]

  workload_step = {
    on_demand = "put the secrets and apply deploy/k8s/overlays/standby-hot"
    warm      = "scale the pods up, and deploy from deploy/k8s/overlays/standby-hot from then on"
    hot       = null
  }[var.tier.workload]

  promotion_steps = local.is_active ? [] : concat(
    ["stop the other site, or record who fenced it and how: two sites must never both be active"],
    compact([local.cluster_step]),
    [
      local.database_step,
      "set store.recovery: rows that were acknowledged may be missing (docs/configuration.md, Lost rows)",
    ],
    compact([local.workload_step]),
    ["wait until https://${local.site_fqdn}/activez answers 200; the failover record follows by itself"],
  )
}
