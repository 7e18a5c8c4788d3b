// swift-tools-version: 6.2
import PackageDescription

// One place for the language rules, so that no target drifts from the others.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]
// The scripts ask for this. It is no default, because SwiftPM refuses packages with unsafe flags as dependencies.
let isCoreOptimized = Context.environment["OPTIMIZE_CORE"] == "1"
let optimized: SwiftSetting = .unsafeFlags(["-O"], .when(configuration: .debug))
// The targets that decide about money do without unsafe constructs altogether.
let core: [SwiftSetting] = strict + [.strictMemorySafety()] + (isCoreOptimized ? [optimized] : [])

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let coreMetrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let metricsTestKit: Target.Dependency = .product(name: "MetricsTestKit", package: "swift-metrics")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let jwt: Target.Dependency = .product(name: "JWTKit", package: "jwt-kit")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let mustache: Target.Dependency = .product(name: "Mustache", package: "swift-mustache")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

// The console's pages are part of the program, so that a container needs no file of them.
let consolePages = [
    "comparison", "comparisons", "discrepancy", "drills", "entry", "failure", "layout", "money", "more", "now",
    "payment", "paymentrow", "payments", "problem", "proposal", "queue", "repair", "repairrow", "repairs", "signin",
    "site", "time",
].map { Resource.embedInCode("Console/Templates/\($0).mustache") }

let migrations = [
    "0001-payments", "0002-refused-by-name", "0003-comparisons", "0004-changed-payments", "0005-site",
    "0006-store-identity", "0007-waiting", "0008-asked", "0009-witness", "0010-alive", "0011-repairs",
    "0012-webhooks", "0013-key-spaces",
].map { Resource.embedInCode("Migrations/\($0).sql") }

let package = Package(
    name: "reconciled",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "reconciled", targets: ["ReconcileDaemon"]),
        .executable(name: "reconciled-lab", targets: ["Lab"]),
        .executable(name: "provider-simulator", targets: ["ProviderSimulatorProgram"]),
        .library(name: "PaymentCore", targets: ["PaymentCore"]),
        .library(name: "ReconciledClient", targets: ["ReconciledClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/jpsim/Yams.git", exact: "6.2.2"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/vapor/jwt-kit.git", exact: "5.7.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", exact: "2.1.1"),
    ],
    targets: [
        // Values and decisions. Nothing here does I/O, reads a clock or draws a random number.
        .target(name: "PaymentCore", dependencies: [crypto], swiftSettings: core),
        // Use cases and loops over ports.
        .target(name: "Reconciler", dependencies: ["PaymentCore", logging, metrics], swiftSettings: core),
        // Stores.
        .target(name: "MemoryStore", dependencies: ["Reconciler", "PaymentCore"], swiftSettings: core),
        .target(name: "StoreRows", dependencies: ["Reconciler", "PaymentCore"], swiftSettings: strict),
        .target(
            name: "SQLiteStore", dependencies: ["StoreRows", "Reconciler", "PaymentCore", grdb, logging],
            swiftSettings: strict),
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(
            name: "PostgresStore",
            dependencies: ["CLibPQ", "StoreRows", "Reconciler", "PaymentCore", crypto, logging],
            resources: migrations, swiftSettings: strict),
        // The wire.
        .target(name: "StrictJSON", swiftSettings: core),
        .systemLibrary(
            name: "CLibCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(
            name: "HTTPTransport", dependencies: ["CLibCurl", logging, metrics], swiftSettings: strict),
        .target(
            name: "Providers",
            dependencies: ["Reconciler", "PaymentCore", "HTTPTransport", "StrictJSON", crypto, logging],
            swiftSettings: strict),
        // What a provider really does, against what its contract says.
        .target(name: "Prober", dependencies: ["Reconciler", "PaymentCore"], swiftSettings: strict),
        // Where a site's right to act is kept in a third place that is no database.
        .target(
            name: "Witnesses", dependencies: ["Reconciler", "PaymentCore", "HTTPTransport", crypto],
            swiftSettings: strict),
        // What callers are told without asking.
        .target(
            name: "Webhooks", dependencies: ["Reconciler", "PaymentCore", "HTTPTransport", crypto],
            swiftSettings: strict),
        // What callers and operators see, over one edge: bodies, routes, tokens, problems and answers.
        .target(
            name: "HTTPEdge",
            dependencies: [
                "PaymentCore", "StrictJSON", hummingbird, crypto, logging, metrics, nio, nioTLS, nioSSL,
            ], swiftSettings: strict),
        .target(
            name: "PaymentAPI",
            dependencies: [
                "HTTPEdge", "Reconciler", "PaymentCore", "StrictJSON", hummingbird, crypto, logging, metrics,
            ], swiftSettings: strict),
        .target(
            name: "OperationsConsole",
            dependencies: [
                "HTTPEdge", "Reconciler", "PaymentCore", "StrictJSON", hummingbird, mustache, crypto, logging, metrics,
                coreMetrics, lifecycle,
            ],
            resources: consolePages + [
                .embedInCode("Console/Assets/console.css"), .embedInCode("Console/Assets/console.js"),
                .embedInCode("Console/Assets/icon.svg"),
            ], swiftSettings: strict),
        // Tokens that somebody else signs for callers.
        .target(
            name: "SignedTokens",
            dependencies: [
                "PaymentAPI", "HTTPEdge", "Reconciler", "PaymentCore", "StrictJSON", jwt, logging, metrics,
            ], swiftSettings: strict),
        // Checks the shipped decisions and loops: exhaustively, and over seeds in virtual time.
        .target(
            name: "Simulation", dependencies: ["MemoryStore", "PaymentCore", "Reconciler"], swiftSettings: core),
        // A provider that misbehaves on purpose. It shares no code with the daemon, so that it can judge it.
        .target(
            name: "ProviderSimulator", dependencies: [hummingbird, nio, grdb, logging, crypto],
            swiftSettings: strict),
        .executableTarget(
            name: "ProviderSimulatorProgram", dependencies: ["ProviderSimulator", "ProgramEdge", arguments, logging],
            swiftSettings: strict),
        // What every program has to do with whoever started it: exit codes, failures, formats, the signal to stop.
        .target(name: "ProgramEdge", dependencies: [arguments], swiftSettings: strict),
        // Runs the checks, and shows the daemon from outside. Nothing of this is deployed. It needs no server.
        .executableTarget(
            name: "Lab",
            dependencies: ["Simulation", "HTTPTransport", "ProgramEdge", "PaymentCore", arguments, crypto],
            swiftSettings: strict),
        // For shops that make payments: a library that shares nothing with the daemon but what both documents say.
        .target(name: "ReconciledClient", dependencies: [crypto], swiftSettings: strict),
        // Wiring only.
        .executableTarget(
            name: "ReconcileDaemon",
            dependencies: [
                "PaymentCore", "Reconciler", "SQLiteStore", "PostgresStore", "HTTPTransport", "Providers", "Prober",
                "Witnesses", "Webhooks", "HTTPEdge", "PaymentAPI", "OperationsConsole", "SignedTokens", "ProgramEdge",
                hummingbird, lifecycle, signals, arguments, yams, logging, metrics, coreMetrics, crypto,
            ],
            resources: [
                .embedInCode("Resources/payments.yaml"), .embedInCode("Resources/operations.yaml"),
            ], swiftSettings: strict),
        .testTarget(name: "PaymentCoreTests", dependencies: ["PaymentCore", "SeededChance"], swiftSettings: strict),
        .target(name: "LogCapture", dependencies: [logging], path: "Tests/LogCapture", swiftSettings: strict),
        .target(name: "APIDescription", dependencies: [yams], path: "Tests/APIDescription", swiftSettings: strict),
        .target(name: "CertificateAuthority", path: "Tests/CertificateAuthority", swiftSettings: strict),
        .target(
            name: "VirtualTime", dependencies: ["Reconciler", "PaymentCore"], path: "Tests/VirtualTime",
            swiftSettings: strict),
        .target(name: "SeededChance", path: "Tests/SeededChance", swiftSettings: strict),
        .testTarget(
            name: "ReconcilerTests",
            dependencies: [
                "Reconciler", "PaymentCore", "MemoryStore", "LogCapture", "VirtualTime", "StoreContract", logging,
            ],
            swiftSettings: strict),
        .testTarget(name: "StrictJSONTests", dependencies: ["StrictJSON", "SeededChance"], swiftSettings: strict),
        .testTarget(
            name: "HTTPTransportTests",
            dependencies: ["HTTPTransport", "CertificateAuthority", logging, metrics, coreMetrics, metricsTestKit],
            swiftSettings: strict),
        .testTarget(
            name: "ProviderSimulatorTests",
            dependencies: ["ProviderSimulator", "ProviderSimulatorProgram", "ProgramOutput", crypto, logging],
            swiftSettings: strict),
        .testTarget(
            name: "ProvidersTests",
            dependencies: [
                "Providers", "Reconciler", "PaymentCore", "HTTPTransport", "StrictJSON", "ProviderSimulator",
                "LogCapture", "SeededChance", hummingbird, nio, logging, metrics,
            ], swiftSettings: strict),
        .testTarget(
            name: "ProberTests",
            dependencies: [
                "Prober", "Providers", "Reconciler", "PaymentCore", "HTTPTransport", "ProviderSimulator",
                "SeededChance", logging,
            ], swiftSettings: strict),
        // Places in which a witness is kept, as far as it needs them.
        .target(
            name: "WitnessServers", dependencies: [hummingbird, nio, logging], path: "Tests/WitnessServers",
            swiftSettings: strict),
        .testTarget(
            name: "WitnessesTests",
            dependencies: [
                "Witnesses", "Reconciler", "PaymentCore", "HTTPTransport", "StoreContract", "WitnessServers",
            ], swiftSettings: strict),
        .testTarget(
            name: "WebhooksTests", dependencies: ["Webhooks", "Reconciler", "PaymentCore", "HTTPTransport", crypto],
            swiftSettings: strict),
        // One suite that every store passes.
        .target(
            name: "StoreContract", dependencies: ["Reconciler", "PaymentCore"], path: "Tests/StoreContract",
            swiftSettings: strict),
        .executableTarget(
            name: "SQLiteCrashWriter", dependencies: ["SQLiteStore", "StoreContract", "Reconciler", "PaymentCore"],
            path: "Tests/SQLiteCrashWriter", swiftSettings: strict),
        .testTarget(
            name: "SQLiteStoreTests",
            dependencies: [
                "SQLiteStore", "MemoryStore", "StoreRows", "StoreContract", "Reconciler", "PaymentCore",
                "SQLiteCrashWriter", grdb, logging,
            ], exclude: ["Golden"], swiftSettings: strict),
        .target(name: "ProgramOutput", path: "Tests/ProgramOutput", swiftSettings: strict),
        .target(name: "PostgresServers", path: "Tests/PostgresServers", swiftSettings: strict),
        .testTarget(
            name: "PostgresStoreTests",
            dependencies: [
                "PostgresStore", "PostgresServers", "StoreRows", "StoreContract", "Reconciler", "PaymentCore", logging,
            ], swiftSettings: strict),
        .testTarget(
            name: "MemoryStoreTests", dependencies: ["MemoryStore", "StoreContract", "Reconciler", "PaymentCore"],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPEdgeTests",
            dependencies: [
                "HTTPEdge", "PaymentCore", "StrictJSON", "LogCapture", hummingbird, nio, nioEmbedded, logging,
            ], swiftSettings: strict),
        .testTarget(
            name: "PaymentAPITests",
            dependencies: [
                "PaymentAPI", "HTTPEdge", "Reconciler", "PaymentCore", "StrictJSON", "LogCapture", "SeededChance",
                hummingbird, crypto, logging,
            ], swiftSettings: strict),
        .testTarget(
            name: "SignedTokensTests",
            dependencies: [
                "SignedTokens", "PaymentAPI", "HTTPEdge", "PaymentCore", "LogCapture", "VirtualTime", "SeededChance",
                crypto, logging,
            ], swiftSettings: strict),
        .testTarget(
            name: "OperationsConsoleTests",
            dependencies: [
                "OperationsConsole", "HTTPEdge", "Reconciler", "PaymentCore", "LogCapture", hummingbird, crypto,
                logging, metrics, coreMetrics,
            ], swiftSettings: strict),
        .testTarget(
            name: "ReconcileDaemonTests",
            dependencies: [
                "ReconcileDaemon", "OperationsConsole", "PaymentAPI", "Providers", "Reconciler", "PaymentCore",
                "MemoryStore", "Witnesses", "StoreContract", "LogCapture", "PostgresStore", "Prober", "ProgramEdge",
                "APIDescription", "CertificateAuthority", "HTTPEdge", "HTTPTransport", "SignedTokens", "SQLiteStore",
                hummingbird, arguments, yams, logging, metrics, coreMetrics,
            ], swiftSettings: strict),
        .testTarget(
            name: "SimulationTests", dependencies: ["Simulation", "MemoryStore", "Reconciler", "PaymentCore"],
            swiftSettings: strict),
        .testTarget(
            name: "LabTests",
            dependencies: [
                "Lab", "ReconcileDaemon", "Simulation", "HTTPTransport", "ProgramEdge", "PaymentCore", "Providers",
                arguments,
            ], swiftSettings: strict),
        // Books that agree with a simulator, in bulk.
        .target(
            name: "BulkBooks", dependencies: ["PaymentCore", "Reconciler", "ProviderSimulator"],
            path: "Tests/BulkBooks", swiftSettings: strict),
        .executableTarget(
            name: "BulkBooksWriter",
            dependencies: ["BulkBooks", "PostgresStore", "PaymentCore", "Reconciler", "ProviderSimulator", arguments],
            path: "Tests/BulkBooksWriter", swiftSettings: strict),
        // The real daemon as a process, a provider that misbehaves, and both ledgers.
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "ReconcileDaemon", "Lab", "ProviderSimulatorProgram", "ProviderSimulator", "HTTPTransport",
                "PaymentCore", "SQLiteStore", "PostgresStore", "Reconciler", "PostgresServers", "WitnessServers",
                "BulkBooks", "APIDescription", "CertificateAuthority", "ProgramOutput", crypto, logging,
            ], swiftSettings: strict),
        .executableTarget(
            name: "ClientCheckout", dependencies: ["ReconciledClient"], path: "Tests/ClientCheckout",
            swiftSettings: strict),
        .testTarget(
            name: "ReconciledClientTests", dependencies: ["ReconciledClient", hummingbird, logging, crypto],
            swiftSettings: strict),
        .testTarget(name: "StyleTests", exclude: ["ratchet.json"], swiftSettings: strict),
    ]
)
