import HTTPTransport
import Testing

@testable import PaymentCore
@testable import Providers

/// What becomes of every answer.
///
/// Money depends on this table.
struct OutcomeTableTests {
    private let book = OrderBook()

    @Test(arguments: EffectKind.allCases)
    func `every status with every body has the outcome of the table`(kind: EffectKind) async throws {
        for row in OutcomeTable.rows(for: kind) {
            let letters = row.letters.filter { $0 != " " }
            try #require(letters.count == OutcomeTable.columns.count, "row \(row.name) has a wrong length")
            for (column, letter) in zip(OutcomeTable.columns, letters) {
                for type in row.isProblem ? problemTypes : transactionTypes {
                    let outcome = try await outcome(of: row, column, type, kind)
                    #expect(
                        outcome == OutcomeClass(letter: letter), "\(kind) \(row.name) \(column) \(type)")
                }
            }
        }
    }

    @Test(arguments: EffectKind.allCases)
    func `under a wrong content type nothing is evidence`(kind: EffectKind) async throws {
        for row in OutcomeTable.rows(for: kind) {
            for column in OutcomeTable.columns {
                var types: [String?] = [nil, "text/html", "text/plain; charset=utf-8", "application/xml", "json"]
                if !row.isProblem { types.append("application/problem+json") }
                for type in types {
                    let outcome = try await outcome(of: row, column, type, kind)
                    #expect(outcome == .indeterminate, "\(kind) \(row.name) \(column) \(type ?? "none")")
                }
            }
        }
    }

    @Test
    func `an answer that names two content types is no evidence`() async throws {
        var fields = HTTPFields.of("application/json")
        fields.append("Content-Type", "text/html")
        let body = WireBodies.transaction("authorized", key: try book.key(.authorize))
        let provider = try scriptedProvider(ScriptedSender([ScriptedSender.answer(201, fields: fields, body: body)]))
        let report = try await provider.send(book.send(.authorize))
        #expect(report.outcome == .indeterminate)
        #expect(report.code == "wrong_content_type")
        #expect(report.observation == nil)
    }

    @Test
    func `a transport failure is unsent only with proof`() async throws {
        let phases: [Phase] = [
            .waiting, .resolving, .connecting, .securing, .connected, .sending, .sent, .receiving, .complete,
        ]
        for code in TransportFailure.Code.allCases {
            for phase in phases {
                for bytes in [0, 1, 400] {
                    let sender = ScriptedSender([ScriptedSender.fail(code, phase, bytesWritten: bytes)])
                    let report = try await scriptedProvider(sender).send(book.send(.authorize))
                    let proven = bytes == 0 && phase.rawValue <= Phase.connected.rawValue
                    #expect(report.outcome == (proven ? .unsent : .indeterminate), "\(code) \(phase) \(bytes)")
                    #expect(report.bytesWritten == bytes)
                    #expect(report.observation == nil && report.retryAfter == nil && !report.credentialsRefused)
                }
            }
        }
    }

    @Test
    func `each transport failure has a code of its own`() async throws {
        var codes: [String] = []
        for code in TransportFailure.Code.allCases {
            let sender = ScriptedSender([ScriptedSender.fail(code, .waiting)])
            codes.append(try await scriptedProvider(sender).send(book.send(.capture)).code)
        }
        #expect(Set(codes).count == TransportFailure.Code.allCases.count)
        let plain = codes.allSatisfy { $0.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (0x61...0x7A).contains($0) } }
        #expect(plain)
        #expect(codes.contains("read_timeout") && codes.contains("reset") && codes.contains("breaker_open"))
    }

    private let transactionTypes = ["application/json", "Application/JSON; charset=utf-8"]
    private let problemTypes = ["application/problem+json", "application/json"]

    private func outcome(
        of row: OutcomeTable.Row, _ column: String, _ type: String?, _ kind: EffectKind
    ) async throws -> OutcomeClass {
        let status = try #require(Int(column.filter { $0 != "+" }))
        let fields = HTTPFields.of(type, retryAfter: column.hasSuffix("+") ? "3" : nil)
        let sender = ScriptedSender([ScriptedSender.answer(status, fields: fields, body: try row.body(book, status))])
        let contract: ProviderContract = kind == .sale ? .referenceSale : .reference
        return try await scriptedProvider(sender, contract: contract).send(book.send(kind)).outcome
    }
}

extension OutcomeClass {
    /// By its letter in the table.
    init?(letter: Character) {
        switch letter {
        case "A": self = .accepted
        case "D": self = .declined
        case "R": self = .refused
        case "T": self = .throttled
        case "I": self = .indeterminate
        default: return nil
        }
    }
}
