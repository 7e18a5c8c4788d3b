# What a promotion of this site must do, as its tiers are now. docs/runbooks/site-lost.md says how each step is done.

locals {
  overlay = { on_demand = null, warm = "standby-warm", hot = "standby-hot" }[var.tier.workload]

  # Minutes until a resource can do its work, and what may be lost: the figures of the table in terraform/README.md.
  recovery = jsondecode(file("${path.module}/recovery.json"))
  reachable = {
    rto_minutes = ceil(max(local.recovery.minutes.cluster[var.tier.cluster], local.recovery.minutes.database[var.tier.database]) + local.recovery.minutes.workload[var.tier.workload] + local.recovery.minutes.switch)
    rpo_seconds = local.recovery.seconds_lost[var.tier.database]
  }

  database_step = {
    on_demand = "restore the database from the copies in ${var.region}: tier.database = hot, and database = { kind = backup, of = the ARN that the output copies_arn has }"
    warm      = "promote the replica ${local.id} as it is: database.promoted = true; its size and second zone come last"
    hot       = "promote the replica ${local.id}: database.promoted = true"
  }[var.tier.database]

  cluster_step = {
    on_demand = "create the cluster: tier.cluster = hot"
    warm      = "start the nodes: tier.cluster = hot"
    hot       = null
  }[var.tier.cluster]

  workload_step = {
    on_demand = "put the secrets and apply deploy/k8s/overlays/standby-hot"
    warm      = "scale the pods up, and deploy from deploy/k8s/overlays/standby-hot from then on"
    hot       = null
  }[var.tier.workload]

  promotion_steps = local.takes_writes ? [] : concat(
    ["stop the other site, or record who fenced it and how: two sites must never both be active"],
    compact([local.cluster_step]),
    [local.database_step],
    compact([local.workload_step]),
    [
      "begin the term: reconciled site promote, with --accept-data-loss, because rows that were acknowledged may be missing (docs/runbooks/site-lost.md)",
      "wait until https://${local.site_fqdn}/activez answers 200; the failover record follows by itself",
    ],
    var.tier.database == "warm" ? ["then give the database its second zone and its full size: tier.database = hot, with database.apply_immediately"] : [],
  )
}
