internal import HTTPTransport

extension TransportFailure {
    /// The failure's short code in the audit trail.
    var auditCode: String {
        switch code {
        case .nameNotResolved: "name_not_resolved"
        case .addressNotAllowed: "address_not_allowed"
        case .connectionRefused: "connection_refused"
        case .connectTimeout: "connect_timeout"
        case .tlsFailure: "tls_failure"
        case .tlsTimeout: "tls_timeout"
        case .expiredBeforeSend: "expired_before_send"
        case .firstByteTimeout: "read_timeout"
        case .totalTimeout: "total_timeout"
        case .connectionReset: "reset"
        case .responseTooLarge: "response_too_large"
        case .malformedResponse: "malformed_response"
        case .deadConnectionReused: "dead_connection_reused"
        case .breakerOpen: "breaker_open"
        case .budgetExhausted: "budget_exhausted"
        case .duplicateInFlight: "duplicate_in_flight"
        case .cancelled: "cancelled"
        case .invalidRequest: "invalid_request"
        case .other: "transport_failure"
        }
    }
}
