import Foundation
import PaymentCore
import ProviderSimulator
import Providers
import Reconciler
import Testing

/// The contract suite before sandboxes of real providers, where the environment has keys of them.
@Suite(.serialized)
struct SandboxTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let named = SandboxKind.all.filter { Sandbox.isNamed($0, in: environment) }

    private static let asked = named.flatMap { kind in
        kind.cases(hasDeclined: Sandbox.declined(kind, environment) != nil)
            .map { AskedOfSandbox(kind: kind, contractCase: $0) }
    }

    @Test(.enabled(if: !named.isEmpty, "no key of a sandbox is in the environment"), arguments: asked)
    func `the sandbox keeps the contract`(asked: AskedOfSandbox) async throws {
        let sandbox = try Sandbox(asked.kind, Self.environment)
        try await SandboxSubject.run(sandbox) { try await asked.contractCase.check($0) }
    }
}

/// A case for a kind of sandbox.
struct AskedOfSandbox: Sendable, CustomTestStringConvertible {
    let kind: SandboxKind
    let contractCase: ContractCase

    var testDescription: String { "\(kind.name): \(contractCase.name)" }
}
