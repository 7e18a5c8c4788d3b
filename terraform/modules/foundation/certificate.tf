# The certificate for the name of the site and the name of the service. ACM wants the same validation record for the
# same name in every region of an account, so one certificate of the two brings the record of the service's name. All
# of these records are in one state that is never taken down: without them no certificate is renewed.

locals {
  validated_names = var.validates_service_name ? [var.site_fqdn, var.service_fqdn] : [var.site_fqdn]
}

resource "aws_acm_certificate" "this" {
  domain_name               = var.site_fqdn
  subject_alternative_names = [var.service_fqdn]
  validation_method         = "DNS"
  tags                      = merge(var.tags, { Name = var.name })

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_route53_record" "validation" {
  for_each = toset(local.validated_names)

  zone_id         = var.zone_id
  name            = one([for o in aws_acm_certificate.this.domain_validation_options : o.resource_record_name if o.domain_name == each.key])
  type            = one([for o in aws_acm_certificate.this.domain_validation_options : o.resource_record_type if o.domain_name == each.key])
  records         = [one([for o in aws_acm_certificate.this.domain_validation_options : o.resource_record_value if o.domain_name == each.key])]
  ttl             = 300
  allow_overwrite = true
}

resource "aws_acm_certificate_validation" "this" {
  certificate_arn = aws_acm_certificate.this.arn

  timeouts {
    create = "30m"
  }

  depends_on = [aws_route53_record.validation]
}
