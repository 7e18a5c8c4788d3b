# What joins the sites: their names, the callers' name with its health checks, and the ways to the witness. Applied when
# the sites are there, and again when one of them was taken down or came back. A failover changes nothing of it.

locals {
  a      = local.site_names[0]
  b      = local.site_names[1]
  joined = { for name in local.site_names : name => try(var.sites[name].joined, true) ? 1 : 0 }
  tags   = { Deployment = var.name }
}

data "aws_route53_zone" "this" {
  name = var.domain
}

data "aws_lb" "a" {
  provider = aws.a
  count    = local.joined[local.a]

  name = "${var.name}-${local.a}"
}

data "aws_lb" "b" {
  provider = aws.b
  count    = local.joined[local.b]

  name = "${var.name}-${local.b}"
}

resource "aws_route53_record" "site" {
  # checkov:skip=CKV2_AWS_23: its load balancer is in the site's state, and found by its name
  for_each = merge(
    { for balancer in data.aws_lb.a : local.a => balancer },
    { for balancer in data.aws_lb.b : local.b => balancer },
  )

  zone_id = data.aws_route53_zone.this.zone_id
  name    = "${each.key}.${var.domain}"
  type    = "A"

  alias {
    name                   = each.value.dns_name
    zone_id                = each.value.zone_id
    evaluate_target_health = false
  }
}

# Both sites stand in it also while one is taken down: a name without a site is not healthy, and gets nobody.
module "failover" {
  source = "../../modules/dns-failover"

  zone_id      = data.aws_route53_zone.this.zone_id
  service_fqdn = "api.${var.domain}"
  first        = { name = local.a, fqdn = "${local.a}.${var.domain}" }
  second       = { name = local.b, fqdn = "${local.b}.${var.domain}" }
  alarm_emails = var.alarm_emails
  protected    = var.protected
  tags         = local.tags
}

module "link_a" {
  source = "../../modules/link"
  count  = local.joined[local.a]

  providers = {
    aws         = aws.a
    aws.witness = aws.witness
  }

  site_vpc_name    = "${var.name}-${local.a}"
  witness_vpc_name = "${var.name}-witness"
  witness_region   = var.witness.region
  tags             = local.tags
}

module "link_b" {
  source = "../../modules/link"
  count  = local.joined[local.b]

  providers = {
    aws         = aws.b
    aws.witness = aws.witness
  }

  site_vpc_name    = "${var.name}-${local.b}"
  witness_vpc_name = "${var.name}-witness"
  witness_region   = var.witness.region
  tags             = local.tags
}

# Deletions begin with what nothing depends on, so with this. While the callers' name is protected it fails, and nothing is deleted.
resource "terraform_data" "protection" {
  input = { protected = var.protected, place = "joined" }

  provisioner "local-exec" {
    when    = destroy
    command = self.input.protected ? "echo '${self.input.place} is protected, and nothing was deleted: set its protected to false and apply, before it is destroyed. Apply it once now: the state has lost its outputs.' >&2; exit 1" : "true"
  }

  depends_on = [aws_route53_record.site, module.failover, module.link_a, module.link_b]
}
