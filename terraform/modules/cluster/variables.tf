variable "name" {
  description = "Name of the cluster; part of the names of everything around it."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,30}[a-z0-9]$", var.name))
    error_message = "name must be 3 to 32 lower-case letters, digits and hyphens, and begin with a letter."
  }
}

variable "region" {
  description = "Region of the provider that is passed in, such as eu-west-1."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.region))
    error_message = "region must be the name of an AWS region, such as eu-west-1."
  }
}

variable "kubernetes_version" {
  description = "Version of Kubernetes. Not null, so that both sites run the same one."
  type        = string
  default     = "1.34"

  validation {
    condition     = can(regex("^1\\.(3[1-9]|[4-9][0-9])$", var.kubernetes_version))
    error_message = "kubernetes_version must be 1.31 or later, such as 1.34: the disruption budgets use unhealthyPodEvictionPolicy."
  }
}

variable "subnet_ids" {
  description = "Private subnets of control plane and nodes, one in each of three zones."
  type        = list(string)

  validation {
    condition     = length(var.subnet_ids) == 3
    error_message = "subnet_ids must be three subnets, one in each zone."
  }
}

variable "cluster_role_arn" {
  description = "Role of the control plane. It is made before, because IAM may be out of reach when a cluster is needed."
  type        = string

  validation {
    condition     = can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:role/[^*]+$", var.cluster_role_arn))
    error_message = "cluster_role_arn must be the ARN of a role of IAM."
  }
}

variable "node_role_arn" {
  description = "Role of the nodes."
  type        = string

  validation {
    condition     = can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:role/[^*]+$", var.node_role_arn))
    error_message = "node_role_arn must be the ARN of a role of IAM."
  }
}

variable "public_access_cidrs" {
  description = "From where the Kubernetes API may be reached over the internet. Empty: from inside the VPC only."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for c in var.public_access_cidrs : can(cidrhost(c, 0)) && try(tonumber(split("/", c)[1]) >= 16, false)])
    error_message = "public_access_cidrs must be IPv4 ranges of /16 or narrower; the whole internet is not one of them."
  }
}

variable "administrators" {
  description = "ARNs of the IAM roles that administer the cluster."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.administrators : can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/[^*]+$", arn))])
    error_message = "administrators must be ARNs of IAM roles or users, without wildcards."
  }
}

variable "operators" {
  description = "ARNs of the IAM roles that deploy into the namespace."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.operators : can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/[^*]+$", arn))])
    error_message = "operators must be ARNs of IAM roles or users, without wildcards."
  }

  validation {
    condition     = length(setintersection(toset(var.operators), toset(var.administrators))) == 0
    error_message = "operators must not be administrators as well: a principal has one entry."
  }
}

variable "namespace" {
  description = "Namespace of the daemon, to which operators are confined."
  type        = string
  default     = "reconciled"

  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", var.namespace))
    error_message = "namespace must be a Kubernetes name."
  }
}

variable "front" {
  description = "Pool of the API and of settling: instance types, and the least, wanted and greatest number of nodes. All zero, except the greatest, is a warm cluster."
  type = object({
    instance_types = optional(list(string), ["m6i.large"])
    min            = optional(number, 3)
    desired        = optional(number, 3)
    max            = optional(number, 9)
  })
  default = {}

  validation {
    condition     = var.front.min >= 0 && var.front.min <= var.front.desired && var.front.desired <= var.front.max && var.front.max >= 3
    error_message = "front must keep 0 <= min <= desired <= max, with max of at least 3: one node in each zone."
  }

  validation {
    condition     = var.front.desired == 0 || var.front.min >= 2
    error_message = "front must have a min of at least 2 unless desired is 0: required anti-affinity puts two pods on two nodes."
  }
}

variable "batch" {
  description = "Pool of comparisons and statements, in the same form. It is tainted, so nothing else lands there."
  type = object({
    instance_types = optional(list(string), ["m6i.large"])
    min            = optional(number, 2)
    desired        = optional(number, 2)
    max            = optional(number, 3)
  })
  default = {}

  validation {
    condition     = var.batch.min >= 0 && var.batch.min <= var.batch.desired && var.batch.desired <= var.batch.max && var.batch.max >= 2
    error_message = "batch must keep 0 <= min <= desired <= max, with max of at least 2: two pods never share a node."
  }
}

variable "ami_type" {
  description = "Image of the nodes. Bottlerocket: its root is read-only and it has no shell."
  type        = string
  default     = "BOTTLEROCKET_x86_64"

  validation {
    condition     = contains(["BOTTLEROCKET_x86_64", "BOTTLEROCKET_ARM_64"], var.ami_type)
    error_message = "ami_type must be BOTTLEROCKET_x86_64 or BOTTLEROCKET_ARM_64; the launch template's volumes are laid out for it."
  }
}

variable "node_volume_gib" {
  description = "Size of the volume for images and containers, in GiB."
  type        = number
  default     = 30

  validation {
    condition     = var.node_volume_gib >= 20 && var.node_volume_gib <= 500
    error_message = "node_volume_gib must be 20 to 500."
  }
}

variable "target_group_arns" {
  description = "Target groups of the load balancer that the nodes of the front pool join, by name."
  type        = map(string)
  default     = {}
}

variable "entry_ports" {
  description = "Node ports that the load balancer may reach, by name."
  type        = map(number)
  default     = {}

  validation {
    condition     = alltrue([for p in values(var.entry_ports) : p >= 30000 && p <= 32767])
    error_message = "entry_ports must be node ports, 30000 to 32767."
  }
}

variable "entry_security_group_id" {
  description = "Security group of the load balancer. Needed with entry_ports."
  type        = string
  default     = null

  validation {
    condition     = length(var.entry_ports) == 0 || var.entry_security_group_id != null
    error_message = "entry_security_group_id must be given with entry_ports: a port is opened to one group, never to everybody."
  }
}

variable "log_retention_in_days" {
  description = "How long control-plane logs are kept."
  type        = number
  default     = 365

  validation {
    condition     = contains([30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.log_retention_in_days)
    error_message = "log_retention_in_days must be a period of at least 30 days that CloudWatch knows, such as 90 or 365."
  }
}

variable "protected" {
  description = "Whether the key waits 30 days before it is deleted (7 otherwise). EKS itself knows deletion protection only from version 6 of the provider on."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of every resource."
  type        = map(string)
  default     = {}
}
