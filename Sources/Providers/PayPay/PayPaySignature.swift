internal import Crypto
internal import Foundation
internal import HTTPTransport
internal import PaymentCore
internal import Reconciler

/// The three parts of PayPay's credentials. They never describe themselves.
struct PayPayCredentials: Sendable, Secretive {
    /// How the three stand in the one token of a configuration.
    static let form = "API_KEY:API_SECRET:MERCHANT_ID"

    let key: String
    let secret: String
    let merchant: String

    /// Takes a token apart; `nil` if it has another form.
    init?(_ token: String) {
        let parts = token.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        (key, secret, merchant) = (parts[0], parts[1], parts[2])
    }

    /// What a token must look like, if this one looks otherwise.
    static func problem(with token: String) -> String? {
        PayPayCredentials(token) == nil ? "three parts with colons between, \(form)," : nil
    }
}

/// What is signed of a request (www.paypay.ne.jp/opa/doc/v1.0/api_authorization.html).
struct PayPaySignature: Sendable {
    /// The content type of every body.
    static let contentType = "application/json;charset=UTF-8"
    /// Stands for what a request without a body does not have.
    private static let nothing = "empty"

    let method: String
    /// The path of the address, without its query.
    let path: String
    let body: [UInt8]
    /// Eight characters that are new for each request.
    let nonce: String
    /// Seconds since 1970.
    let epoch: Int64

    /// The value of `Authorization`.
    func header(_ credentials: PayPayCredentials) -> String {
        let type = body.isEmpty ? Self.nothing : Self.contentType
        let hash = body.isEmpty ? Self.nothing : Self.hash(of: body)
        let text = [path, method, nonce, String(epoch), type, hash].joined(separator: "\n")
        let mac = HMAC<SHA256>.authenticationCode(
            for: Data(text.utf8), using: SymmetricKey(data: Data(credentials.secret.utf8)))
        let parts = [credentials.key, Data(mac).base64EncodedString(), nonce, String(epoch), hash]
        return "hmac OPA-Auth:" + parts.joined(separator: ":")
    }

    /// MD5 is what PayPay asks for. What protects the request is the key of the HMAC around it.
    private static func hash(of body: [UInt8]) -> String {
        var digest = Insecure.MD5()
        digest.update(data: Data(contentType.utf8))
        digest.update(data: Data(body))
        return Data(digest.finalize()).base64EncodedString()
    }

    /// The path of an absolute address.
    static func path(of url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return "/" }
        let rest = url[scheme.upperBound...]
        guard let slash = rest.firstIndex(of: "/") else { return "/" }
        return String(rest[slash...].prefix { $0 != "?" })
    }
}

/// Signs each request, and says for which merchant it is.
///
/// PayPay accepts a signature for two minutes. So it is made last, right before the request leaves.
struct PayPaySigning: Middleware {
    /// Where the credentials come from. They do not expire, so no answer makes them stale.
    let source: any TokenSource
    let clock: any WallClock
    var nonce: @Sendable () -> String = PayPaySigning.randomNonce

    func send(_ request: HTTPRequest, next: any HTTPSender) async throws(TransportFailure) -> HTTPResponse {
        let token: BearerToken
        do {
            token = try await source.token()
        } catch {
            throw TransportFailure(
                code: error.code, phase: .waiting, bytesWritten: 0, detail: "no token: \(error.detail)")
        }
        guard let credentials = PayPayCredentials(token.secret) else {
            throw TransportFailure(
                code: .invalidRequest, phase: .waiting, bytesWritten: 0,
                detail: "the token is not \(PayPayCredentials.form)")
        }
        let signature = PayPaySignature(
            method: request.method.rawValue, path: PayPaySignature.path(of: request.url), body: request.body,
            nonce: nonce(), epoch: clock.now().milliseconds / 1_000)
        var signed = request
        signed.fields["Authorization"] = signature.header(credentials)
        signed.fields["X-ASSUME-MERCHANT"] = credentials.merchant
        signed.fields["Content-Type"] = request.body.isEmpty ? nil : PayPaySignature.contentType
        return try await next.send(signed)
    }

    private static let randomNonce: @Sendable () -> String = {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        var chance = SystemRandomNumberGenerator()
        return String((0..<8).map { _ in letters[Int.random(in: 0..<letters.count, using: &chance)] })
    }
}
