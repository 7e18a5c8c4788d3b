# What a step down would delete is refused before the first deletion, by what there is and not by what was planned:
# AWS refuses to delete a protected database only when half of the plan is done.

data "aws_db_instances" "there" {
  filter {
    name   = "db-instance-id"
    values = [local.id]
  }
}

data "aws_eks_clusters" "there" {}

# How protected the site is now, and not after this plan: what both takes protection off and deletes is refused half-way.
data "aws_lbs" "there" {
  tags = { Deployment = var.name, Site = var.site }
}

data "aws_lb" "there" {
  count = length(data.aws_lbs.there.arns)

  arn = one(data.aws_lbs.there.arns)
}

locals {
  protected = var.protected || anytrue(data.aws_lb.there[*].enable_deletion_protection)
}

data "aws_db_instance" "there" {
  count = length(data.aws_db_instances.there.instance_identifiers)

  db_instance_identifier = local.id
}

resource "terraform_data" "steps_down" {
  input = var.tier

  lifecycle {
    precondition {
      condition     = !local.protected || local.has_database || length(data.aws_db_instance.there) == 0
      error_message = "tier.database = on_demand would delete the database ${local.id}, and the site is protected. Set its `protected` to false, apply, and only then change the tier."
    }

    precondition {
      condition     = !local.protected || local.has_cluster || !contains(data.aws_eks_clusters.there.names, local.id)
      error_message = "tier.cluster = on_demand would delete the cluster ${local.id}, and the site is protected. Set its `protected` to false, apply, and only then change the tier."
    }

    # RDS makes a replica only anew. Applied half, this would leave a site that takes writes with the settings of a replica.
    precondition {
      condition     = !local.has_database || local.takes_writes || alltrue([for database in data.aws_db_instance.there : coalesce(database.replicate_source_db, "none") != "none"])
      error_message = "The database ${local.id} takes writes; RDS cannot make a replica of it. If the other site took over from it, delete it first: `protected` = false, apply; then tier.database = on_demand, apply (docs/runbooks/failback.md)."
    }
  }
}

# A promotion leaves a warm database as it was, because a change of its size takes longer than the promotion. Until it
# is hot, this says so at each plan.
check "what_takes_writes_is_hot" {
  assert {
    condition     = !local.takes_writes || var.tier.database == "hot"
    error_message = "The database ${local.id} takes writes in one zone and at the smaller size. Set tier.database to hot as soon as the site is active."
  }
}

check "the_tiers_keep_what_was_agreed" {
  assert {
    condition     = local.takes_writes || (local.reachable.rto_minutes <= var.objectives.rto_minutes && local.reachable.rpo_seconds <= var.objectives.rpo_seconds)
    error_message = "The tiers of ${var.site} need ${local.reachable.rto_minutes} minutes and may lose ${local.reachable.rpo_seconds} seconds of rows; agreed are ${var.objectives.rto_minutes} and ${var.objectives.rpo_seconds}. Raise the tiers, or agree on other objectives."
  }
}
