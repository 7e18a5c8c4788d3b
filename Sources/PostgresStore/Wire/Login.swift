internal import CLibPQ
internal import Foundation

/// Where to connect, and what every session begins with.
struct Login: Sendable {
    private let pairs: [(name: String, value: String)]
    private let password: @Sendable () -> String?

    /// Which of several servers is wanted.
    enum Wanted: String {
        /// One that takes writes.
        case writing = "read-write"
        /// Any that answers.
        case any
    }

    /// - Parameters:
    ///   - wanted: which of several servers.
    ///   - dsn: a libpq connection string or URI; hosts, TLS, password file and service as libpq has them.
    ///   - settings: the server's settings for the session.
    ///   - password: asked at each connection; wins over one in the connection string or a password file.
    init(
        _ wanted: Wanted = .writing, dsn: String, password: @escaping @Sendable () -> String?,
        settings: [String: String]
    ) {
        self.password = password
        let options = settings.sorted { $0.key < $1.key }.map { Login.option($0.key, $0.value) }
        pairs =
            [
                // What comes later wins: these are defaults, so that a dead peer is noticed …
                ("connect_timeout", "5"), ("tcp_user_timeout", "10000"), ("keepalives_idle", "10"),
                ("keepalives_interval", "5"), ("keepalives_count", "3"), ("fallback_application_name", "reconciled"),
                ("dbname", dsn),
                // … and these the store relies on.
                ("client_encoding", "UTF8"), ("target_session_attrs", wanted.rawValue),
                ("options", options.joined(separator: " ")),
            ]
    }

    /// A setting as the server reads it; a space in its value is escaped.
    private static func option(_ name: String, _ value: String) -> String {
        "-c \(name)=\(value.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "\\ "))"
    }

    /// Connects; nil without memory.
    func open() -> OpaquePointer? {
        let pairs = pairs + (password().map { [("password", $0)] } ?? [])
        let names = pairs.map { strdup($0.name) }
        let values = pairs.map { strdup($0.value) }
        defer { for text in names + values { free(text) } }
        let keywords = names.map { UnsafePointer($0) } + [nil]
        let texts = values.map { UnsafePointer($0) } + [nil]
        return PQconnectdbParams(keywords, texts, 1)
    }

    /// What is wrong with a connection string, in libpq's words; nil if it can be read.
    static func problem(of dsn: String) -> String? {
        var words: UnsafeMutablePointer<CChar>?
        let options = PQconninfoParse(dsn, &words)
        defer {
            PQconninfoFree(options)
            PQfreemem(words)
        }
        guard options == nil else { return nil }
        return words.map { String(cString: $0).trimmingCharacters(in: .whitespacesAndNewlines) } ?? "it cannot be read"
    }

    /// Whether a connection string holds a password.
    static func holdsPassword(_ dsn: String) -> Bool { value(of: "password", in: dsn) != nil }

    /// How the server shows that it is the one that is meant.
    static func trust(_ dsn: String) -> ServerTrust {
        let hosts = ["host", "hostaddr"].compactMap { value(of: $0, in: dsn) ?? standard($0) }
        let places = hosts.flatMap { $0.split(separator: ",").map(String.init) }
        if places.allSatisfy(isOnThisMachine) { return .onThisMachine }
        let mode = value(of: "sslmode", in: dsn) ?? standard("sslmode") ?? "prefer"
        return ["verify-full", "verify-ca"].contains(mode) ? .verified : .unverified(mode: mode)
    }

    /// Whether nothing between the daemon and a host can be somebody else's. A name that begins with `/` or `@` is a
    /// socket's.
    private static func isOnThisMachine(_ host: String) -> Bool {
        host.hasPrefix("/") || host.hasPrefix("@") || host.hasPrefix("127.") || ["localhost", "::1"].contains(host)
    }

    private static func value(of name: String, in dsn: String) -> String? {
        guard let options = PQconninfoParse(dsn, nil) else { return nil }
        defer { PQconninfoFree(options) }
        return value(of: name, among: options)
    }

    /// What counts where a connection string does not say: the environment's, the service file's or libpq's own.
    private static func standard(_ name: String) -> String? {
        guard let options = PQconndefaults() else { return nil }
        defer { PQconninfoFree(options) }
        return value(of: name, among: options)
    }

    private static func value(of name: String, among options: UnsafeMutablePointer<PQconninfoOption>) -> String? {
        var next = options
        while let keyword = next.pointee.keyword {
            if String(cString: keyword) == name { return next.pointee.val.map { String(cString: $0) } }
            next += 1
        }
        return nil
    }
}

/// How a server of PostgreSQL shows that it is the one that is meant.
public enum ServerTrust: Sendable, Hashable {
    /// It is reached without a network.
    case onThisMachine
    /// By a certificate of an authority that is trusted.
    case verified
    /// Whoever answers for its host counts as it, under this `sslmode`.
    case unverified(mode: String)
}
