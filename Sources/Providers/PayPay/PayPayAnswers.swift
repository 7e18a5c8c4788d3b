internal import PaymentCore

// The table of answers: which class of outcome a reply belongs to. The first row that fits decides.
//
// A class that says "no effect" needs proof: not a byte was written, or PayPay itself said so with a code that its
// documentation knows. Everything else is in doubt. No error of PayPay's names the payment that it is about: only a
// read that shows the payment does.

/// A row of the table.
struct PayPayAnswerRow: Sendable {
    /// Its name, for tests and pages.
    let name: String
    /// Where PayPay says so.
    let source: String
    /// The status.
    let status: Int
    /// The codes of `resultInfo`.
    let codes: Set<String>
    let report: @Sendable (PayPayReply, String, Timestamp) -> AttemptReport
}

enum PayPayAnswers {
    private static let reference = "www.paypay.ne.jp/opa/doc/v1.0/direct_debit"
    private static let refunds = "integration.paypay.ne.jp/hc/en-us/articles/5953150296463"

    /// The outcome of a reply that is an error.
    static func report(of reply: PayPayReply, at now: Timestamp) -> AttemptReport {
        guard case .error(let code) = reply.content else {
            return AttemptReport(.indeterminate, code: reply.code, bytesWritten: reply.bytesWritten)
        }
        let row = rows.first { $0.status == reply.status && $0.codes.contains(code) }
        var report = row?.report(reply, code, now) ?? AttemptReport(.indeterminate, code: "http_\(reply.status)")
        report.bytesWritten = reply.bytesWritten
        return report
    }

    static let rows: [PayPayAnswerRow] = [
        PayPayAnswerRow(
            name: "credentials", source: reference, status: 401, codes: ["UNAUTHORIZED", "OP_OUT_OF_SCOPE"],
            report: { _, code, _ in
                AttemptReport(.refused, code: ShortCode.of(code) ?? "http_401", credentialsRefused: true)
            }),
        PayPayAnswerRow(
            name: "client", source: reference, status: 404, codes: ["OPA_CLIENT_NOT_FOUND"],
            report: { _, code, _ in
                AttemptReport(.refused, code: ShortCode.of(code) ?? "http_404", credentialsRefused: true)
            }),
        PayPayAnswerRow(
            name: "rate-limited", source: reference, status: 429, codes: ["RATE_LIMIT"],
            report: { reply, _, now in
                AttemptReport(.throttled, code: "rate_limit", retryAfter: reply.retryAfter?.moment(from: now))
            }),
        // The payer's authorization, which is the instrument. Our own credentials are good.
        PayPayAnswerRow(
            name: "payer", source: reference, status: 401,
            codes: ["INVALID_USER_AUTHORIZATION_ID", "EXPIRED_USER_AUTHORIZATION_ID"], report: refused),
        PayPayAnswerRow(
            name: "declined", source: reference, status: 400,
            codes: ["CANCELED_USER", "NO_SUFFICIENT_FUND", "UNACCEPTABLE_OP"],
            report: { _, code, _ in
                AttemptReport(.declined, code: ShortCode.of(code) ?? "declined", namesKey: false)
            }),
        PayPayAnswerRow(
            name: "refund-ruled-out", source: refunds, status: 400,
            codes: ["REFUND_LIMIT_EXCEEDED", "REFUND_WINDOW_EXCEED"], report: refused),
        PayPayAnswerRow(
            name: "state", source: reference, status: 400,
            codes: [
                "ALREADY_CAPTURED", "ORDER_EXPIRED", "ORDER_NOT_CAPTURABLE", "ORDER_NOT_REVERSIBLE",
                "ORDER_NO_LONGER_AVAILABLE", "HIGHER_CAPTURE_NOT_PERMITTED",
            ], report: refused),
        PayPayAnswerRow(
            name: "not-found", source: reference, status: 404, codes: ["RESOURCE_NOT_FOUND"],
            report: { _, _, _ in AttemptReport(.refused, code: "not_found", namesKey: false) }),
        PayPayAnswerRow(
            name: "invalid-request", source: reference, status: 400,
            codes: [
                "INVALID_REQUEST_PARAMS", "MISSING_REQUEST_PARAMS", "INVALID_PARAMS", "VALIDATION_FAILED_EXCEPTION",
            ], report: refused),
        // 500 TRANSACTION_FAILED, SERVICE_ERROR and INTERNAL_SERVER_ERROR, 503 MAINTENANCE_MODE, and every code that is
        // not known: nothing says that nothing was executed. Only reads tell.
    ]

    private static let refused: @Sendable (PayPayReply, String, Timestamp) -> AttemptReport = { reply, code, _ in
        AttemptReport(.refused, code: ShortCode.of(code) ?? "http_\(reply.status)", namesKey: false)
    }
}
