# The settings that all environments share: what is misspelt is refused, and not dropped.

variables {
  account_id = "123456789012"
  domain     = "pay.example.com"
  sites = {
    frankfurt = { region = "eu-central-1", zones = ["eu-central-1a", "eu-central-1b", "eu-central-1c"], cidr = "10.10.0.0/16", tier = { cluster = "hot", database = "hot", workload = "hot" }, database = { kind = "new" } }
    ireland   = { region = "eu-west-1", zones = ["eu-west-1a", "eu-west-1b", "eu-west-1c"], cidr = "10.20.0.0/16", tier = { cluster = "warm", database = "warm", workload = "warm" }, database = { kind = "replica" } }
  }
  witness = { region = "eu-north-1", zones = ["eu-north-1a", "eu-north-1b", "eu-north-1c"], cidr = "10.30.0.0/24" }
}

run "the_settings_are_taken" {
  command = plan

  module {
    source = "./tests/settings"
  }

  assert {
    condition     = output.site_names == tolist(["frankfurt", "ireland"])
    error_message = "Good settings must be taken."
  }
}

run "a_misspelt_key_of_a_site_is_refused" {
  command = plan

  module {
    source = "./tests/settings"
  }

  variables {
    sites = {
      frankfurt = { region = "eu-central-1", zones = ["eu-central-1a", "eu-central-1b", "eu-central-1c"], cidr = "10.10.0.0/16", tier = { cluster = "hot", database = "hot", workload = "hot" }, database = { kind = "new" }, zonez = [] }
      ireland   = { region = "eu-west-1", zones = ["eu-west-1a", "eu-west-1b", "eu-west-1c"], cidr = "10.20.0.0/16", tier = { cluster = "warm", database = "warm", workload = "warm" }, database = { kind = "replica" } }
    }
  }

  expect_failures = [var.sites]
}

run "a_misspelt_key_inside_is_refused" {
  command = plan

  module {
    source = "./tests/settings"
  }

  variables {
    sites = {
      frankfurt = { region = "eu-central-1", zones = ["eu-central-1a", "eu-central-1b", "eu-central-1c"], cidr = "10.10.0.0/16", tier = { cluster = "hot", database = "hot", workload = "hot" }, database = { kind = "new" } }
      ireland   = { region = "eu-west-1", zones = ["eu-west-1a", "eu-west-1b", "eu-west-1c"], cidr = "10.20.0.0/16", tier = { cluster = "warm", database = "warm", workload = "warm" }, database = { kind = "replica", promotd = true } }
    }
  }

  expect_failures = [var.sites]
}

run "a_misspelt_key_of_the_cluster_is_refused" {
  command = plan

  module {
    source = "./tests/settings"
  }

  variables {
    cluster = { front = { mni = 1 } }
  }

  expect_failures = [var.cluster]
}

run "a_misspelt_key_of_the_database_is_refused" {
  command = plan

  module {
    source = "./tests/settings"
  }

  variables {
    database = { storage = 1 }
  }

  expect_failures = [var.database]
}

run "a_third_region_that_is_a_sites_is_refused" {
  command = plan

  module {
    source = "./tests/settings"
  }

  variables {
    witness = { region = "eu-west-1", zones = ["eu-west-1a", "eu-west-1b", "eu-west-1c"], cidr = "10.30.0.0/24" }
  }

  expect_failures = [var.witness]
}

run "objectives_that_nobody_knows_are_refused" {
  command = plan

  module {
    source = "./tests/settings"
  }

  variables {
    objectives = { rto = 1 }
  }

  expect_failures = [var.objectives]
}
