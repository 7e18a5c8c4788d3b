# Every combination of tiers, as sites of one plan: terraform/tests/tiers makes them. Which combinations are allowed is
# a rule here, written down independently of the module's; the runs after the first show that the others are refused.

mock_provider "aws" {
  source = "./tests/mocks"
}


run "each_combination_keeps_what_its_tiers_say" {
  command = plan

  module {
    source = "./tests/tiers"
  }

  assert {
    condition     = length(output.sites) == 17
    error_message = "Of the 27 combinations 17 are possible."
  }

  assert {
    condition     = alltrue([for s in output.sites : (s.node_counts == null) == (s.tier.cluster == "on_demand")])
    error_message = "There must be a cluster unless it is on demand."
  }

  assert {
    condition     = alltrue([for s in output.sites : s.node_counts == { front = 0, batch = 0 } if s.tier.cluster == "warm"])
    error_message = "A warm cluster must have no nodes."
  }

  assert {
    condition     = alltrue([for s in output.sites : s.node_counts == { front = 3, batch = 2 } if s.tier.cluster == "hot"])
    error_message = "A hot cluster must have the nodes of an active one."
  }

  assert {
    condition     = alltrue([for s in output.sites : (s.database == null) == (s.tier.database == "on_demand")])
    error_message = "There must be a replica unless it is on demand."
  }

  assert {
    condition     = alltrue([for s in output.sites : s.database.replica_of == "arn:aws:rds:eu-central-1:123456789012:db:reconciled-frankfurt" && !s.database.takes_writes if s.database != null])
    error_message = "Each database of a standby must follow the active site's, which is found by its name."
  }

  assert {
    condition     = alltrue([for s in output.sites : s.database.deletion_protection if s.database != null])
    error_message = "A replica must refuse to be deleted in every tier."
  }

  assert {
    condition     = alltrue([for s in output.sites : s.database.multi_az == (s.tier.database == "hot") && s.database.instance_class == (s.tier.database == "hot" ? "db.m6g.large" : "db.t4g.large") if s.database != null])
    error_message = "A hot replica must have two zones and the full size, a warm one neither."
  }

  assert {
    condition     = alltrue([for s in output.sites : coalesce(s.overlay, "none") == { on_demand = "none", warm = "standby-warm", hot = "standby-hot" }[s.tier.workload]])
    error_message = "The workload's tier must name the overlay."
  }

  assert {
    condition     = alltrue([for s in output.sites : s.site_fqdn == "ireland.pay.example.com" && length(s.node_cidrs) == 3])
    error_message = "A site must have its name and its load balancer in every tier, so that the failover record knows it in advance."
  }

  assert {
    condition     = alltrue([for s in output.sites : length(s.nat_addresses) == 3])
    error_message = "The addresses on the providers' allow-lists must be reserved in every tier."
  }

  assert {
    condition     = alltrue([for s in output.sites : anytrue([for step in s.promotion_steps : startswith(step, "create the cluster")]) == (s.tier.cluster == "on_demand")])
    error_message = "Promotion must create a cluster exactly where there is none."
  }

  assert {
    condition     = alltrue([for s in output.sites : anytrue([for step in s.promotion_steps : startswith(step, "start the nodes")]) == (s.tier.cluster == "warm")])
    error_message = "Promotion must start nodes exactly where a cluster has none."
  }

  assert {
    condition     = alltrue([for s in output.sites : anytrue([for step in s.promotion_steps : startswith(step, "restore the database")]) == (s.tier.database == "on_demand")])
    error_message = "Promotion must restore the database exactly where there is no replica."
  }

  assert {
    condition     = alltrue([for s in output.sites : startswith(s.promotion_steps[0], "stop the other site") && anytrue([for step in s.promotion_steps : strcontains(step, "reconciled site promote") && strcontains(step, "--accept-data-loss")])])
    error_message = "Promotion must fence first, and begin the term in the words of the program: the replica is asynchronous."
  }
}

run "whatever_the_database_was_a_promotion_makes_an_active_site" {
  command = plan

  module {
    source = "./tests/tiers"
  }

  variables {
    promoted = true
  }

  assert {
    condition     = length(output.sites) == 3 && alltrue([for s in output.sites : s.node_counts == { front = 3, batch = 2 }])
    error_message = "After a promotion the nodes of an active site must run."
  }

  assert {
    condition     = alltrue([for s in output.sites : s.database.takes_writes && s.database.multi_az && s.database.deletion_protection])
    error_message = "After a promotion the database must take writes, in two zones, protected."
  }
}

run "refused_cluster_on_demand_database_on_demand_workload_warm" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    name         = "reconciled"
    site         = "ireland"
    region       = "eu-west-1"
    cidr         = "10.20.0.0/16"
    other_site   = "frankfurt"
    other_region = "eu-central-1"
    domain       = "pay.example.com"
    zones        = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    keeps_copies = true

    database_origin = { kind = "replica" }
    tier            = { cluster = "on_demand", database = "on_demand", workload = "warm" }
  }

  expect_failures = [var.tier]
}

run "refused_cluster_on_demand_database_on_demand_workload_hot" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    name         = "reconciled"
    site         = "ireland"
    region       = "eu-west-1"
    cidr         = "10.20.0.0/16"
    other_site   = "frankfurt"
    other_region = "eu-central-1"
    domain       = "pay.example.com"
    zones        = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    keeps_copies = true

    database_origin = { kind = "replica" }
    tier            = { cluster = "on_demand", database = "on_demand", workload = "hot" }
  }

  expect_failures = [var.tier]
}

run "refused_cluster_on_demand_database_warm_workload_warm" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    name         = "reconciled"
    site         = "ireland"
    region       = "eu-west-1"
    cidr         = "10.20.0.0/16"
    other_site   = "frankfurt"
    other_region = "eu-central-1"
    domain       = "pay.example.com"
    zones        = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    keeps_copies = true

    database_origin = { kind = "replica" }
    tier            = { cluster = "on_demand", database = "warm", workload = "warm" }
  }

  expect_failures = [var.tier]
}

run "refused_cluster_on_demand_database_warm_workload_hot" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    name         = "reconciled"
    site         = "ireland"
    region       = "eu-west-1"
    cidr         = "10.20.0.0/16"
    other_site   = "frankfurt"
    other_region = "eu-central-1"
    domain       = "pay.example.com"
    zones        = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    keeps_copies = true

    database_origin = { kind = "replica" }
    tier            = { cluster = "on_demand", database = "warm", workload = "hot" }
  }

  expect_failures = [var.tier]
}

run "refused_cluster_on_demand_database_hot_workload_warm" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    name         = "reconciled"
    site         = "ireland"
    region       = "eu-west-1"
    cidr         = "10.20.0.0/16"
    other_site   = "frankfurt"
    other_region = "eu-central-1"
    domain       = "pay.example.com"
    zones        = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    keeps_copies = true

    database_origin = { kind = "replica" }
    tier            = { cluster = "on_demand", database = "hot", workload = "warm" }
  }

  expect_failures = [var.tier]
}

run "refused_cluster_on_demand_database_hot_workload_hot" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    name         = "reconciled"
    site         = "ireland"
    region       = "eu-west-1"
    cidr         = "10.20.0.0/16"
    other_site   = "frankfurt"
    other_region = "eu-central-1"
    domain       = "pay.example.com"
    zones        = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    keeps_copies = true

    database_origin = { kind = "replica" }
    tier            = { cluster = "on_demand", database = "hot", workload = "hot" }
  }

  expect_failures = [var.tier]
}

run "refused_cluster_warm_database_on_demand_workload_hot" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    name         = "reconciled"
    site         = "ireland"
    region       = "eu-west-1"
    cidr         = "10.20.0.0/16"
    other_site   = "frankfurt"
    other_region = "eu-central-1"
    domain       = "pay.example.com"
    zones        = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    keeps_copies = true

    database_origin = { kind = "replica" }
    tier            = { cluster = "warm", database = "on_demand", workload = "hot" }
  }

  expect_failures = [var.tier]
}

run "refused_cluster_warm_database_warm_workload_hot" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    name         = "reconciled"
    site         = "ireland"
    region       = "eu-west-1"
    cidr         = "10.20.0.0/16"
    other_site   = "frankfurt"
    other_region = "eu-central-1"
    domain       = "pay.example.com"
    zones        = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    keeps_copies = true

    database_origin = { kind = "replica" }
    tier            = { cluster = "warm", database = "warm", workload = "hot" }
  }

  expect_failures = [var.tier]
}

run "refused_cluster_warm_database_hot_workload_hot" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    name         = "reconciled"
    site         = "ireland"
    region       = "eu-west-1"
    cidr         = "10.20.0.0/16"
    other_site   = "frankfurt"
    other_region = "eu-central-1"
    domain       = "pay.example.com"
    zones        = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    keeps_copies = true

    database_origin = { kind = "replica" }
    tier            = { cluster = "warm", database = "hot", workload = "hot" }
  }

  expect_failures = [var.tier]
}

run "refused_cluster_hot_database_on_demand_workload_hot" {
  command = plan

  module {
    source = "./modules/site"
  }

  variables {
    name         = "reconciled"
    site         = "ireland"
    region       = "eu-west-1"
    cidr         = "10.20.0.0/16"
    other_site   = "frankfurt"
    other_region = "eu-central-1"
    domain       = "pay.example.com"
    zones        = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    keeps_copies = true

    database_origin = { kind = "replica" }
    tier            = { cluster = "hot", database = "on_demand", workload = "hot" }
  }

  expect_failures = [var.tier]
}
