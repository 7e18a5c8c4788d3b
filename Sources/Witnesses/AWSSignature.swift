internal import Crypto
internal import Foundation
internal import HTTPTransport
internal import PaymentCore

/// What signs requests to AWS. The secret is shown nowhere.
struct AWSCredentials: Sendable {
    /// The name of the key.
    let accessKey: String
    /// The key.
    let secret: String
    /// Goes with keys that were lent for a time.
    let sessionToken: String?
    /// When the key ends; `nil` for one that does not.
    let expiresAt: Timestamp?
}

extension AWSCredentials: CustomStringConvertible, CustomReflectable {
    var description: String { "AWSCredentials(redacted)" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Signature Version 4 of a request to the root of a host, without a query (AWS, "Create a signed AWS API request").
struct AWSSignature: Sendable {
    let credentials: AWSCredentials
    let region: String
    let service: String

    /// Adds the fields that sign the request: all that it has by now, and its host, are signed.
    ///
    /// - Parameter host: The host of its address, with the port where that is not the scheme's own.
    func sign(_ request: inout HTTPRequest, host: String, at now: Timestamp) {
        let moment = AWSSignature.basic(now)
        let day = String(moment.prefix(8))
        request.fields["X-Amz-Date"] = moment
        if let token = credentials.sessionToken { request.fields["X-Amz-Security-Token"] = token }
        var signed = request.fields.all.map { (name: $0.name.lowercased(), value: AWSSignature.trimmed($0.value)) }
        signed.append((name: "host", value: host))
        signed.sort { $0.name < $1.name }
        let names = signed.map(\.name).joined(separator: ";")
        let lines = signed.map { "\($0.name):\($0.value)\n" }.joined()
        let canonical =
            "\(request.method.rawValue)\n/\n\n\(lines)\n\(names)\n\(AWSSignature.hash(request.body))"
        let scope = "\(day)/\(region)/\(service)/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(moment)\n\(scope)\n\(AWSSignature.hash(Array(canonical.utf8)))"
        let signature = AWSSignature.hexadecimal(AWSSignature.code(text, key(of: day)))
        request.fields["Authorization"] =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope), SignedHeaders=\(names), "
            + "Signature=\(signature)"
    }

    /// The key of a day, a region and a service.
    func key(of day: String) -> SymmetricKey {
        var key = SymmetricKey(data: Data("AWS4\(credentials.secret)".utf8))
        for part in [day, region, service, "aws4_request"] { key = SymmetricKey(data: AWSSignature.code(part, key)) }
        return key
    }

    private static func code(_ text: String, _ key: SymmetricKey) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
    }

    private static func hash(_ bytes: [UInt8]) -> String { hexadecimal(Data(SHA256.hash(data: Data(bytes)))) }

    private static func hexadecimal(_ data: Data) -> String {
        data.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// Without spaces at the ends, and with one where there were several.
    private static func trimmed(_ value: String) -> String {
        value.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
    }

    /// ISO 8601 in its basic form, such as `20260301T090000Z`.
    private static func basic(_ moment: Timestamp) -> String {
        String(moment.rfc3339.prefix(19).filter { $0 != "-" && $0 != ":" }) + "Z"
    }
}
