variable "name" {
  description = "Name of the site; part of the names of everything here. Target groups allow 32 characters, of which 6 are taken."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,24}[a-z0-9]$", var.name))
    error_message = "name must be 3 to 26 lower-case letters, digits and hyphens, and begin with a letter."
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

variable "vpc_id" {
  description = "VPC of the load balancer."
  type        = string
}

variable "vpc_cidr" {
  description = "Address range of the VPC: the load balancer may reach nothing else."
  type        = string
}

variable "subnet_ids" {
  description = "Public subnets, one in each of three zones."
  type        = list(string)

  validation {
    condition     = length(var.subnet_ids) == 3
    error_message = "subnet_ids must be three subnets, one in each zone."
  }
}

variable "certificate_arn" {
  description = "Certificate of ACM for the site's name and the service's name. It exists before the site."
  type        = string

  validation {
    condition     = can(regex("^arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[^*]+$", var.certificate_arn))
    error_message = "certificate_arn must be the ARN of a certificate of ACM."
  }
}

variable "api_node_port" {
  description = "Node port of the callers' Service."
  type        = number
  default     = 30080

  validation {
    condition     = var.api_node_port >= 30000 && var.api_node_port <= 32767
    error_message = "api_node_port must be 30000 to 32767."
  }
}

variable "admin_node_port" {
  description = "Node port of the operators' listener, of which only /activez is passed on."
  type        = number
  default     = 30081

  validation {
    condition     = var.admin_node_port >= 30000 && var.admin_node_port <= 32767
    error_message = "admin_node_port must be 30000 to 32767."
  }

  validation {
    condition     = var.admin_node_port != var.api_node_port
    error_message = "admin_node_port must differ from api_node_port: callers would reach the operators' listener."
  }
}

variable "client_cidrs" {
  description = "From where callers come. With anything but 0.0.0.0/0 the health checks of Route 53 are let in beside them."
  type        = list(string)
  default     = ["0.0.0.0/0"]

  validation {
    condition     = length(var.client_cidrs) > 0 && alltrue([for c in var.client_cidrs : can(cidrhost(c, 0))])
    error_message = "client_cidrs must be at least one IPv4 range."
  }
}

variable "expects_pods" {
  description = "Whether pods run here, so that their absence is an alarm."
  type        = bool
}

variable "web_acl_arn" {
  description = "ARN of a WAF web ACL of this region, or null for none."
  type        = string
  default     = null
}

variable "alarm_topic_arns" {
  description = "SNS topics that are told of alarms."
  type        = list(string)
  default     = []
}

variable "log_retention_in_days" {
  description = "How long access logs are kept."
  type        = number
  default     = 365

  validation {
    condition     = var.log_retention_in_days >= 30
    error_message = "log_retention_in_days must be at least 30."
  }
}

variable "protected" {
  description = "Whether the load balancer refuses to be deleted and the logs' bucket to be deleted with what is in it."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of every resource."
  type        = map(string)
  default     = {}
}
