import Providers

/// A provider's sandbox, as the environment names it: `RECONCILED_SANDBOX_STRIPE_TOKEN` and the like
/// (`docs/providers/README.md`).
struct Sandbox: Sendable {
    /// Why the environment names no sandbox. It never repeats a token.
    struct Problem: Error, Equatable, CustomStringConvertible {
        let variable: String
        let allowed: String

        var description: String { "\(variable) must be \(allowed)" }
    }

    let kind: SandboxKind
    let url: String
    let token: String
    let instrument: String
    let declined: String?
    let currency: String

    /// The name of a variable, such as `RECONCILED_SANDBOX_STRIPE_TOKEN`.
    static func variable(_ kind: SandboxKind, _ name: String) -> String {
        "RECONCILED_SANDBOX_\(kind.name.uppercased())_\(name)"
    }

    /// Whether the environment has a token for a sandbox of this kind.
    static func isNamed(_ kind: SandboxKind, in environment: [String: String]) -> Bool {
        environment[variable(kind, "TOKEN")]?.isEmpty == false
    }

    /// - Throws: what is missing, and what may move real money: a sandbox on this machine never does.
    init(_ kind: SandboxKind, _ environment: [String: String]) throws(Problem) {
        func value(_ name: String, _ usual: String?, _ allowed: String) throws(Problem) -> String {
            let variable = Self.variable(kind, name)
            guard let value = environment[variable].flatMap({ $0.isEmpty ? nil : $0 }) ?? usual else {
                throw Problem(variable: variable, allowed: allowed)
            }
            return value
        }
        self.kind = kind
        token = try value("TOKEN", nil, "a key of the sandbox")
        url = try value("URL", kind.url, "the address of the sandbox")
        instrument = try value("INSTRUMENT", kind.instrument, "an instrument that the sandbox approves")
        declined = Self.declined(kind, environment)
        currency = environment[Self.variable(kind, "CURRENCY")] ?? "JPY"
        let isHere = ["http://127.0.0.1:", "http://[::1]:"].contains { url.hasPrefix($0) }
        guard isHere || url.hasPrefix("https://") else {
            throw Problem(variable: Self.variable(kind, "URL"), allowed: "https, unless it is on this machine")
        }
        if let problem = kind.wire.adapter.problem(withToken: token) {
            throw Problem(variable: Self.variable(kind, "TOKEN"), allowed: problem)
        }
        if !isHere, let danger = kind.danger(token, url) {
            throw Problem(variable: Self.variable(kind, danger.variable), allowed: danger.allowed)
        }
    }

    /// An instrument that the sandbox declines; `nil` where nobody named one.
    static func declined(_ kind: SandboxKind, _ environment: [String: String]) -> String? {
        environment[variable(kind, "DECLINED_INSTRUMENT")] ?? kind.declined
    }
}
