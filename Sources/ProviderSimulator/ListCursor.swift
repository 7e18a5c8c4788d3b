import Foundation

/// Where a listing goes on, as text without meaning to the caller.
struct ListCursor {
    let position: ListQuery.Position
    let updatedBefore: Int64?

    init(position: ListQuery.Position, updatedBefore: Int64?) {
        self.position = position
        self.updatedBefore = updatedBefore
    }

    init?(_ text: String) {
        guard text.utf8.count <= 512 else { return nil }
        let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64 + padding),
            let inner = String(bytes: data, encoding: .utf8)
        else { return nil }
        let parts = inner.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let updatedAt = Int64(parts[0]), MessageReader.isKey(parts[1]),
            let id = Int64(parts[2]),
            parts[3].isEmpty || Int64(parts[3]) != nil
        else { return nil }
        position = .init(updatedAt: updatedAt, key: parts[1], id: id)
        updatedBefore = Int64(parts[3])
    }

    var text: String {
        let before = updatedBefore.map { String($0) } ?? ""
        return Data("\(position.updatedAt)/\(position.key)/\(position.id)/\(before)".utf8)
            .base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
