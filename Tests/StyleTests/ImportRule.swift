/// The dependency rule: source dependencies point inward, and each C library and framework stays at its edge.
struct ImportRule {
    /// What one target may import.
    struct Allowance {
        /// Our own targets that may be imported.
        var inner: Set<String>
        /// The only foreign modules that may be imported, or nil when any may be that is not kept elsewhere.
        var foreign: Set<String>?
    }

    /// What each target in `Sources` may import; a target that is missing here fails.
    var targets: [String: Allowance]
    /// Foreign modules which only some targets may import.
    var kept: [String: Set<String>]

    /// The rule of this project, as `ARCHITECTURE.md` draws it.
    static let project = ImportRule(
        targets: [
            "PaymentCore": Allowance(inner: [], foreign: ["Crypto"]),
            // Synchronization is of the standard library: the gate of the site is asked from everywhere.
            "Reconciler": Allowance(inner: ["PaymentCore"], foreign: ["Logging", "Metrics", "Synchronization"]),
            "MemoryStore": Allowance(inner: ["PaymentCore", "Reconciler"]),
            "StoreRows": Allowance(inner: ["PaymentCore", "Reconciler"]),
            "SQLiteStore": Allowance(inner: ["PaymentCore", "Reconciler", "StoreRows"]),
            "PostgresStore": Allowance(inner: ["PaymentCore", "Reconciler", "StoreRows"]),
            "HTTPTransport": Allowance(inner: []),
            "StrictJSON": Allowance(inner: [], foreign: []),
            "Providers": Allowance(inner: ["PaymentCore", "Reconciler", "HTTPTransport", "StrictJSON"]),
            "Witnesses": Allowance(inner: ["PaymentCore", "Reconciler", "HTTPTransport"]),
            "Webhooks": Allowance(inner: ["PaymentCore", "Reconciler", "HTTPTransport"]),
            "HTTPEdge": Allowance(inner: ["PaymentCore", "StrictJSON"]),
            "PaymentAPI": Allowance(inner: ["HTTPEdge", "PaymentCore", "Reconciler", "StrictJSON"]),
            "SignedTokens": Allowance(
                inner: ["HTTPEdge", "PaymentAPI", "PaymentCore", "Reconciler", "StrictJSON"]),
            "OperationsConsole": Allowance(inner: ["HTTPEdge", "PaymentCore", "Reconciler", "StrictJSON"]),
            "Simulation": Allowance(inner: ["PaymentCore", "Reconciler", "MemoryStore"]),
            "ProviderSimulator": Allowance(inner: []),
            "ProviderSimulatorProgram": Allowance(inner: ["ProgramEdge", "ProviderSimulator"]),
            "ProgramEdge": Allowance(inner: []),
            "ReconciledClient": Allowance(
                inner: [], foreign: ["Crypto", "Foundation", "FoundationNetworking", "Synchronization"]),
            "Prober": Allowance(inner: ["PaymentCore", "Reconciler"]),
            // No server and no database, so that the checks are built quickly.
            "Lab": Allowance(
                inner: ["PaymentCore", "HTTPTransport", "ProgramEdge", "Simulation"],
                foreign: ["ArgumentParser", "Crypto", "Foundation", "Glibc"]),
            "ReconcileDaemon": Allowance(inner: [
                "PaymentCore", "Reconciler", "SQLiteStore", "PostgresStore", "HTTPTransport", "Providers", "Prober",
                "Witnesses", "Webhooks", "HTTPEdge", "PaymentAPI", "OperationsConsole", "SignedTokens", "ProgramEdge",
            ]),
        ],
        kept: [
            "CLibCurl": ["HTTPTransport"],
            "CLibPQ": ["PostgresStore"],
            "GRDB": ["SQLiteStore", "ProviderSimulator"],
            "Mustache": ["OperationsConsole"],
            "NIOSSL": ["HTTPEdge"],
            "JWTKit": ["SignedTokens"],
            "Hummingbird": ["HTTPEdge", "PaymentAPI", "OperationsConsole", "ProviderSimulator", "ReconcileDaemon"],
        ])

    /// The imports of `files` that the rule forbids; files outside `Sources` are passed over.
    func findings(in files: [SourceFile]) -> [Finding] {
        files.flatMap { file -> [Finding] in
            guard file.area == "Sources", let target = file.target, let swift = file.swift else { return [] }
            guard let allowance = targets[target] else {
                return [
                    Finding(
                        file: file.path, line: nil, problem: "target \(target) is not in the dependency rule",
                        allowed: "targets listed in Tests/StyleTests/ImportRule.swift")
                ]
            }
            return Self.imports(in: swift).compactMap { line, module in
                violation(of: target, allowance, module).map { allowed in
                    Finding(
                        file: file.path, line: line, problem: "\(target) imports \(module)", allowed: allowed)
                }
            }
        }
    }

    /// What is allowed instead if `target` must not import `module`, else nil.
    private func violation(of target: String, _ allowance: Allowance, _ module: String) -> String? {
        if let keepers = kept[module] {
            return keepers.contains(target) ? nil : "\(module) in \(Self.list(keepers)) only"
        }
        if targets[module] != nil {
            return allowance.inner.contains(module)
                ? nil : "of our own targets: \(Self.list(allowance.inner))"
        }
        guard let foreign = allowance.foreign, !foreign.contains(module) else { return nil }
        return "of foreign modules: \(Self.list(foreign))"
    }

    private static func list(_ names: Set<String>) -> String {
        names.isEmpty ? "none" : names.sorted().joined(separator: ", ")
    }

    /// The modules that a file imports, with the line of each, counted from 1.
    static func imports(in swift: SwiftText) -> [(line: Int, module: String)] {
        let kinds: Set<Substring> = [
            "struct", "class", "enum", "protocol", "typealias", "func", "let", "var",
        ]
        return swift.code.enumerated().compactMap { index, line in
            var words = line.split(separator: " ")[...]
            words = words.drop { $0.hasPrefix("@") || accessLevels.contains($0) }
            guard words.first == "import" else { return nil }
            words = words.dropFirst().drop { kinds.contains($0) }
            let path = words.first?.split(whereSeparator: { ".;".contains($0) })
            return path?.first.map { (index + 1, String($0)) }
        }
    }

    private static let accessLevels: Set<Substring> = [
        "public", "package", "internal", "fileprivate", "private",
    ]
}
