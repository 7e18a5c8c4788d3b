internal import Foundation
internal import HTTPTransport
internal import PaymentCore
internal import Reconciler

/// Where the credentials come from, as AWS's own programs find them: variables of the environment, the agent of a
/// container (EKS Pod Identity, ECS), or a role that a token of the cluster stands for (IRSA). Those that end are
/// fetched anew five minutes before.
///
/// Source: AWS SDKs and Tools Reference Guide, "Standardized credential providers".
actor AWSCredentialSource {
    private enum Origin {
        case fixed(AWSCredentials)
        case agent(url: String, tokenFile: String?, token: String?)
        case role(arn: String, tokenFile: String)
        case none
    }

    /// What the agent of a container answers.
    private struct Lent: Decodable {
        let accessKey: String
        let secret: String
        let token: String
        let expiration: String

        enum CodingKeys: String, CodingKey {
            case accessKey = "AccessKeyId"
            case secret = "SecretAccessKey"
            case token = "Token"
            case expiration = "Expiration"
        }
    }

    /// What the Security Token Service answers, in JSON.
    private struct Assumed: Decodable {
        struct Response: Decodable {
            let result: Result

            enum CodingKeys: String, CodingKey { case result = "AssumeRoleWithWebIdentityResult" }
        }

        struct Result: Decodable {
            let keys: Keys

            enum CodingKeys: String, CodingKey { case keys = "Credentials" }
        }

        struct Keys: Decodable {
            let accessKey: String
            let secret: String
            let token: String
            /// Seconds since 1970.
            let expiration: Double

            enum CodingKeys: String, CodingKey {
                case accessKey = "AccessKeyId"
                case secret = "SecretAccessKey"
                case token = "SessionToken"
                case expiration = "Expiration"
            }
        }

        let response: Response

        enum CodingKeys: String, CodingKey { case response = "AssumeRoleWithWebIdentityResponse" }
    }

    /// The addresses at which an agent may be asked without TLS, because only this machine answers there.
    private static let agents = ["http://169.254.170.2/", "http://169.254.170.23/", "http://127.0.0.1:"]
    private static let margin = Span.minutes(5)

    private let origin: Origin
    private let region: String
    private let sender: any HTTPSender
    private let now: @Sendable () -> Timestamp
    private var current: AWSCredentials?

    init(
        _ environment: [String: String], region: String, sender: any HTTPSender,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.region = region
        self.sender = sender
        self.now = now
        if let key = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"] {
            origin = .fixed(
                AWSCredentials(
                    accessKey: key, secret: secret, sessionToken: environment["AWS_SESSION_TOKEN"], expiresAt: nil))
        } else if let url = environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] {
            origin = .agent(
                url: url, tokenFile: environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"],
                token: environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"])
        } else if let arn = environment["AWS_ROLE_ARN"], let file = environment["AWS_WEB_IDENTITY_TOKEN_FILE"] {
            origin = .role(arn: arn, tokenFile: file)
        } else {
            origin = .none
        }
    }

    /// The credentials, fetched anew if they end soon.
    func credentials(by deadline: ContinuousClock.Instant) async throws(StoreFailure) -> AWSCredentials {
        if let current, current.expiresAt.map({ now() + AWSCredentialSource.margin < $0 }) ?? true {
            return current
        }
        let fetched =
            switch origin {
            case .fixed(let credentials): credentials
            case .agent(let url, let file, let token): try await lent(url, file, token, by: deadline)
            case .role(let arn, let file): try await assumed(arn, file, by: deadline)
            case .none:
                throw AWSCredentialSource.failure(
                    "no credentials: allowed are AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, "
                        + "AWS_CONTAINER_CREDENTIALS_FULL_URI, or AWS_ROLE_ARN with AWS_WEB_IDENTITY_TOKEN_FILE")
            }
        current = fetched
        return fetched
    }

    private func lent(
        _ url: String, _ tokenFile: String?, _ token: String?, by deadline: ContinuousClock.Instant
    ) async throws(StoreFailure) -> AWSCredentials {
        guard url.hasPrefix("https://") || AWSCredentialSource.agents.contains(where: url.hasPrefix) else {
            throw AWSCredentialSource.failure(
                "AWS_CONTAINER_CREDENTIALS_FULL_URI leads elsewhere than to an agent; allowed: https, or "
                    + AWSCredentialSource.agents.joined(separator: ", "))
        }
        var request = HTTPRequest(method: .get, url: url, label: "witness")
        if let tokenFile {
            request.fields["Authorization"] = try String(tokenFile: tokenFile, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
        } else if let token {
            request.fields["Authorization"] = token
        }
        let response = try await sender.ask(request, by: deadline)
        guard response.status == 200 else {
            throw AWSCredentialSource.failure("the agent that lends credentials answers \(response.status)")
        }
        let lent = try response.decoded(Lent.self)
        guard let ends = Timestamp(rfc3339: lent.expiration) else {
            throw AWSCredentialSource.failure("the agent does not say when the credentials end")
        }
        return AWSCredentials(
            accessKey: lent.accessKey, secret: lent.secret, sessionToken: lent.token, expiresAt: ends)
    }

    private func assumed(
        _ arn: String, _ tokenFile: String, by deadline: ContinuousClock.Instant
    ) async throws(StoreFailure) -> AWSCredentials {
        let token = try String(tokenFile: tokenFile, "AWS_WEB_IDENTITY_TOKEN_FILE")
        let form = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", arn),
            ("RoleSessionName", "reconciled"), ("WebIdentityToken", token),
        ]
        let body = form.map { "\($0.0)=\(AWSCredentialSource.escaped($0.1))" }.joined(separator: "&")
        let request = HTTPRequest(
            method: .post, url: "https://sts.\(region).amazonaws.com/",
            fields: HTTPFields([
                ("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded"),
            ]), body: Array(body.utf8), label: "witness")
        let response = try await sender.ask(request, by: deadline)
        guard response.status == 200 else {
            throw AWSCredentialSource.failure(
                "the role \(arn) was not given (\(response.status)): may it be assumed by this cluster's tokens?")
        }
        let keys = try response.decoded(Assumed.self).response.result.keys
        return AWSCredentials(
            accessKey: keys.accessKey, secret: keys.secret, sessionToken: keys.token,
            expiresAt: Timestamp(milliseconds: Int64(keys.expiration * 1_000)))
    }

    private static func escaped(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }

    private static func failure(_ cause: String) -> StoreFailure {
        StoreFailure(.unavailable, operation: "witness", cause: cause)
    }
}
