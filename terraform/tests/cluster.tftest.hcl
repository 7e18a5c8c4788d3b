mock_provider "aws" {
  source = "./tests/mocks"
}

variables {
  name                    = "reconciled-ireland"
  region                  = "eu-west-1"
  cluster_role_arn        = "arn:aws:iam::123456789012:role/reconciled-ireland-cluster"
  node_role_arn           = "arn:aws:iam::123456789012:role/reconciled-ireland-node"
  subnet_ids              = ["subnet-a", "subnet-b", "subnet-c"]
  administrators          = ["arn:aws:iam::123456789012:role/platform"]
  operators               = ["arn:aws:iam::123456789012:role/deploy"]
  target_group_arns       = { api = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/api/0", admin = "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/admin/0" }
  entry_ports             = { api = 30080, admin = 30081 }
  entry_security_group_id = "sg-entry"
}

run "a_cluster_is_private_encrypted_and_logged" {
  command = plan

  module {
    source = "./modules/cluster"
  }

  assert {
    condition     = aws_eks_cluster.this.vpc_config[0].endpoint_private_access && !aws_eks_cluster.this.vpc_config[0].endpoint_public_access
    error_message = "The Kubernetes API must be reachable from inside only."
  }

  assert {
    condition     = aws_eks_cluster.this.encryption_config[0].resources == toset(["secrets"])
    error_message = "Kubernetes secrets must be encrypted with our key."
  }

  assert {
    condition     = aws_eks_cluster.this.enabled_cluster_log_types == toset(["api", "audit", "authenticator", "controllerManager", "scheduler"])
    error_message = "The control plane must log everything."
  }

  assert {
    condition     = !aws_eks_cluster.this.access_config[0].bootstrap_cluster_creator_admin_permissions && aws_eks_cluster.this.access_config[0].authentication_mode == "API"
    error_message = "Whoever creates the cluster must not become its administrator in silence."
  }

  assert {
    condition     = alltrue([for t in aws_launch_template.node : t.metadata_options[0].http_tokens == "required" && t.metadata_options[0].http_put_response_hop_limit == 1])
    error_message = "Nodes must speak IMDSv2 only, and not to containers."
  }

  assert {
    condition     = alltrue(flatten([for t in aws_launch_template.node : [for d in t.block_device_mappings : d.ebs[0].encrypted == "true"]]))
    error_message = "Volumes of nodes must be encrypted."
  }

  assert {
    condition     = jsondecode(aws_eks_addon.network.configuration_values).enableNetworkPolicy == "true"
    error_message = "Network policies must be enforced."
  }

  assert {
    condition     = aws_eks_access_policy_association.operators["arn:aws:iam::123456789012:role/deploy"].access_scope[0].type == "namespace"
    error_message = "Operators must be confined to the namespace."
  }

  assert {
    condition     = alltrue([for r in aws_vpc_security_group_ingress_rule.entry : r.referenced_security_group_id == "sg-entry"]) && length(aws_vpc_security_group_ingress_rule.entry) == 2
    error_message = "Only the load balancer may reach the node ports."
  }
}

run "pools_are_kept_apart" {
  command = plan

  module {
    source = "./modules/cluster"
  }

  assert {
    condition     = aws_eks_node_group.this["front"].labels["reconciled.io/pool"] == "front" && length(aws_eks_node_group.this["front"].taint) == 0
    error_message = "The front pool must be labelled and open."
  }

  assert {
    condition     = aws_eks_node_group.this["batch"].labels["reconciled.io/pool"] == "batch"
    error_message = "The batch pool must be labelled."
  }

  assert {
    condition     = one(aws_eks_node_group.this["batch"].taint).key == "reconciled.io/pool" && one(aws_eks_node_group.this["batch"].taint).value == "batch" && one(aws_eks_node_group.this["batch"].taint).effect == "NO_SCHEDULE"
    error_message = "The batch pool must be tainted."
  }

  assert {
    condition     = output.node_counts == { front = 3, batch = 2 }
    error_message = "There must be a front node in each zone, and two for batch."
  }

  assert {
    condition     = alltrue([for g in aws_eks_node_group.this : g.update_config[0].max_unavailable == 1])
    error_message = "An update must take one node at a time."
  }

}

run "a_warm_cluster_has_no_nodes" {
  command = plan

  module {
    source = "./modules/cluster"
  }

  variables {
    front = { min = 0, desired = 0 }
    batch = { min = 0, desired = 0 }
  }

  assert {
    condition     = output.node_counts == { front = 0, batch = 0 } && aws_eks_node_group.this["front"].scaling_config[0].max_size == 9
    error_message = "No node may run, and all must be allowed to come."
  }
}

run "an_api_open_to_named_networks" {
  command = plan

  module {
    source = "./modules/cluster"
  }

  variables {
    public_access_cidrs = ["203.0.113.0/24"]
  }

  assert {
    condition     = aws_eks_cluster.this.vpc_config[0].endpoint_public_access && aws_eks_cluster.this.vpc_config[0].public_access_cidrs == toset(["203.0.113.0/24"])
    error_message = "The API must be open to the named network and no other."
  }
}

run "an_api_open_to_everybody_is_refused" {
  command = plan

  module {
    source = "./modules/cluster"
  }

  variables {
    public_access_cidrs = ["0.0.0.0/0"]
  }

  expect_failures = [var.public_access_cidrs]
}

run "a_single_front_node_is_refused" {
  command = plan

  module {
    source = "./modules/cluster"
  }

  variables {
    front = { min = 1, desired = 1 }
  }

  expect_failures = [var.front]
}

run "more_wanted_than_allowed_is_refused" {
  command = plan

  module {
    source = "./modules/cluster"
  }

  variables {
    batch = { min = 2, desired = 4, max = 3 }
  }

  expect_failures = [var.batch]
}

run "an_old_kubernetes_is_refused" {
  command = plan

  module {
    source = "./modules/cluster"
  }

  variables {
    kubernetes_version = "1.26"
  }

  expect_failures = [var.kubernetes_version]
}

run "ports_open_to_nobody_in_particular_are_refused" {
  command = plan

  module {
    source = "./modules/cluster"
  }

  variables {
    entry_security_group_id = null
  }

  expect_failures = [var.entry_security_group_id]
}

run "every_principal_as_administrator_is_refused" {
  command = plan

  module {
    source = "./modules/cluster"
  }

  variables {
    administrators = ["arn:aws:iam::123456789012:role/*"]
  }

  expect_failures = [var.administrators]
}

run "an_administrator_as_operator_is_refused" {
  command = plan

  module {
    source = "./modules/cluster"
  }

  variables {
    operators = ["arn:aws:iam::123456789012:role/platform"]
  }

  expect_failures = [var.operators]
}

run "an_image_with_another_layout_is_refused" {
  command = plan

  module {
    source = "./modules/cluster"
  }

  variables {
    ami_type = "AL2023_x86_64_STANDARD"
  }

  expect_failures = [var.ami_type]
}
