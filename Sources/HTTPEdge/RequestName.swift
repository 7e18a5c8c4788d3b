internal import PaymentCore

/// What one request is called in its answer and in the log.
package struct RequestName: Sendable, Hashable {
    /// Our name: 32 hexadecimal digits of chance. A counter would tell each caller how much the others ask.
    package let own: String
    /// The caller's own, where it sent one that can be logged; it is never trusted to be the only one of its kind.
    package let callers: String?

    /// The name of a request with these headers. A caller's name is kept beside ours: one `X-Request-Id` of 1 to 64
    /// letters, digits, `.`, `_` and `-`, in which no card number appears. Any other is left out.
    package init(_ headers: HeaderValues) {
        own = (0..<2).map { _ in RequestName.digits(.random(in: .min ... .max)) }.joined()
        let sent = headers.all("x-request-id")
        callers = sent.count == 1 ? sent.first.flatMap(RequestName.logged) : nil
    }

    private static func digits(_ number: UInt64) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    private static func logged(_ text: String) -> String? {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isPlain && (1...64).contains(text.utf8.count) && !CardNumber.appears(in: text) ? text : nil
    }
}
