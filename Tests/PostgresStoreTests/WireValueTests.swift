internal import Reconciler
internal import Testing

@testable internal import PostgresStore

@Suite struct WireValueTests {
    private static let texts = [
        "", "a", "it's", #"back\slash and "quotes""#, "{a,b}", "NULL", "line\nbreak\ttab", "€ 𝄞 日本語 e\u{301}",
        String(repeating: "long ", count: 100_000),
    ]

    @Test(arguments: [Int64.min, -1, 0, 1, 255, 256, 1 << 40, .max])
    func `an integer comes back as it was sent`(_ value: Int64) async throws {
        try await RawSession.with { session in
            let (returned, words) = try await session.use { connection in
                let rows = try connection.rows("SELECT $1, $1::text", [.int(value)])
                return (try rows.int(0, 0), try rows.text(0, 1))
            }
            #expect(returned == value)
            #expect(words == String(value))
        }
    }

    @Test func `a text comes back as it was sent`() async throws {
        try await RawSession.with { session in
            for text in Self.texts {
                let (returned, length) = try await session.use { connection in
                    let rows = try connection.rows("SELECT $1, octet_length($1)::bigint", [.text(text)])
                    return (try rows.optionalText(0, 0), try rows.int(0, 1))
                }
                // Not by ==, for which characters that are composed otherwise are the same.
                #expect(returned.map { Array($0.utf8) } == Array(text.utf8))
                #expect(length == Int64(text.utf8.count))
            }
        }
    }

    @Test(arguments: [[], [0], [0, 1, 127, 128, 255], Array(0...255)] as [[UInt8]])
    func `bytes come back as they were sent`(_ bytes: [UInt8]) async throws {
        try await RawSession.with { session in
            let (returned, data, length) = try await session.use { connection in
                let rows = try connection.rows("SELECT $1, octet_length($1)::bigint", [.bytes(bytes)])
                return (try rows.optionalBytes(0, 0), try rows.data(0, 0), try rows.int(0, 1))
            }
            #expect(returned == bytes)
            #expect(Array(data) == bytes)
            #expect(length == Int64(bytes.count))
        }
    }

    @Test func `truth comes back as it was sent`() async throws {
        try await RawSession.with { session in
            let returned = try await session.use { connection in
                let rows = try connection.rows("SELECT $1, $2, NOT $1", [.bool(true), .bool(false)])
                return try (0..<3).map { try rows.bool(0, $0) }
            }
            #expect(returned == [true, false, false])
        }
    }

    @Test func `nothing is told apart from what is empty`() async throws {
        try await RawSession.with { session in
            let parameters: [Parameter] = [.int(nil as Int64?), .text(nil), .bytes(nil), .text(""), .bytes([])]
            let isNull = try await session.use { connection in
                let rows = try connection.rows("SELECT $1, $2, $3, $4, $5, $4 IS NULL, $5 IS NULL", parameters)
                #expect(try !rows.bool(0, 5) && !rows.bool(0, 6))
                return [
                    try rows.optionalInt(0, 0) == nil, try rows.optionalText(0, 1) == nil,
                    try rows.optionalBytes(0, 2) == nil, try rows.optionalText(0, 3) == nil,
                    try rows.optionalBytes(0, 4) == nil,
                ]
            }
            #expect(isNull == [true, true, true, false, false])
        }
    }

    @Test(arguments: [[], [nil], [0], [Int64.min, nil, -1, 0, nil, .max]] as [[Int64?]])
    func `a list of integers keeps its order and its gaps`(_ list: [Int64?]) async throws {
        let sql = "SELECT value FROM unnest($1::bigint[]) WITH ORDINALITY AS list (value, place) ORDER BY place"
        try await RawSession.with { session in
            let returned = try await session.use { connection in
                let rows = try connection.rows(sql, [.ints(list)])
                return try (0..<rows.count).map { try rows.optionalInt($0, 0) }
            }
            #expect(returned == list)
        }
    }

    @Test(arguments: [[], [nil], [""], Self.texts + [nil]] as [[String?]])
    func `a list of texts keeps its order and its gaps`(_ list: [String?]) async throws {
        let sql = "SELECT value FROM unnest($1::text[]) WITH ORDINALITY AS list (value, place) ORDER BY place"
        try await RawSession.with { session in
            let returned = try await session.use { connection in
                let rows = try connection.rows(sql, [.texts(list)])
                return try (0..<rows.count).map { try rows.optionalText($0, 0) }
            }
            #expect(returned.map { $0.map { Array($0.utf8) } } == list.map { $0.map { Array($0.utf8) } })
        }
    }

    @Test func `a list of bytes and one of truths keep their order and their gaps`() async throws {
        let list: [[UInt8]?] = [[], nil, [0, 255], [1]]
        let truths = [true, false, true, true]
        let sql = """
            SELECT a, b FROM unnest($1::bytea[], $2::boolean[]) WITH ORDINALITY AS list (a, b, place) ORDER BY place
            """
        try await RawSession.with { session in
            let (bytes, flags) = try await session.use { connection in
                let rows = try connection.rows(sql, [.byteStrings(list), .bools(truths)])
                return (
                    try (0..<rows.count).map { try rows.optionalBytes($0, 0) },
                    try (0..<rows.count).map { try rows.bool($0, 1) }
                )
            }
            #expect(bytes == list)
            #expect(flags == truths)
            let none = try await session.use { connection in
                try connection.rows(sql, [.byteStrings([]), .bools([])]).count
            }
            #expect(none == 0)
        }
    }

    @Test func `a column of another kind than expected is damage, not a wrong value`() async throws {
        try await RawSession.with { session in
            let found = try await failure {
                try await session.use { connection in try connection.rows("SELECT 1::int4").int(0, 0) }
            }
            #expect(found?.code == .corrupted)
            let missing = try await failure {
                try await session.use { connection in try connection.rows("SELECT NULL::bigint").int(0, 0) }
            }
            #expect(missing?.code == .corrupted)
            let absent = try await failure {
                try await session.use { connection in try connection.rows("SELECT 1::bigint").int(0, 1) }
            }
            #expect(absent?.code == .other)
        }
    }
}
