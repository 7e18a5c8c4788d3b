# A topic in the region that failed tells nobody; the other site's topic and the alarms of the failover record, which
# are in us-east-1, do.
module "alarms" {
  source = "../alarms"

  name      = local.id
  emails    = var.alarm_emails
  protected = var.protected
  tags      = local.tags
}
