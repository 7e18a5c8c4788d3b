internal import Crypto
public import Foundation

/// Keeps each operation in a file of its own.
public struct DirectoryJournal: OperationJournal {
    private let directory: URL

    /// - Parameter directory: is made if it is not there. Nothing else should be kept in it.
    public init(_ directory: URL) throws {
        self.directory = directory
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// See ``OperationJournal/begin(_:)``. Throws ``ClientError/journal(_:)`` for a file that cannot be read.
    public func begin(_ operation: StoredOperation) throws -> (kept: StoredOperation, isNew: Bool) {
        let file = file(of: operation.key, "json")
        if let kept = try read(file) { return (kept, false) }
        let partial = directory.appending(path: ".\(UUID().uuidString).partial")
        defer { try? FileManager.default.removeItem(at: partial) }
        try write(try DirectoryJournal.encoder.encode(operation), to: partial)
        // Of an operation that was removed before its mark was.
        try remove(self.file(of: operation.key, "done"))
        do {
            // A link is made as a whole, and fails where another process was faster.
            try FileManager.default.linkItem(at: partial, to: file)
        } catch {
            guard let kept = try read(file) else { throw error }
            return (kept, false)
        }
        try synchronizeDirectory()
        return (operation, true)
    }

    /// See ``OperationJournal/finish(_:)``.
    public func finish(_ key: OperationKey) throws {
        try write(Data(), to: file(of: key, "done"))
        try synchronizeDirectory()
    }

    /// See ``OperationJournal/forget(_:)``.
    public func forget(_ key: OperationKey) throws {
        for kind in ["json", "done"] { try remove(file(of: key, kind)) }
        try synchronizeDirectory()
    }

    /// See ``OperationJournal/unfinished()``. Moments are kept in whole seconds.
    public func unfinished() throws -> [StoredOperation] {
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        let done = Set(files.filter { $0.pathExtension == "done" }.map(DirectoryJournal.name))
        let open = files.filter { $0.pathExtension == "json" && !done.contains(DirectoryJournal.name($0)) }
        return try open.compactMap(read).sorted { ($0.begunAt, $0.key.text) < ($1.begunAt, $1.key.text) }
    }

    /// Removes what was finished before then. Keep it for as long as you may repeat such a request: a repetition has to
    /// be the same.
    public func removeFinished(before moment: Date) throws {
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        for done in files where done.pathExtension == "done" {
            let written = try FileManager.default.attributesOfItem(atPath: done.path)[.modificationDate] as? Date
            guard let written, written < moment else { continue }
            // The mark goes last: without it the operation would count as unfinished.
            try remove(done.deletingPathExtension().appendingPathExtension("json"))
            try remove(done)
        }
        try synchronizeDirectory()
    }

    /// A key may be longer than a file's name, and have a slash in it.
    private func file(of key: OperationKey, _ kind: String) -> URL {
        let name = SHA256.hash(data: Data(key.text.utf8)).map { String(format: "%02x", $0) }.joined()
        return directory.appending(path: "\(name).\(kind)")
    }

    private static func name(_ file: URL) -> String { file.deletingPathExtension().lastPathComponent }

    private func read(_ file: URL) throws -> StoredOperation? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        do {
            return try DirectoryJournal.decoder.decode(StoredOperation.self, from: Data(contentsOf: file))
        } catch {
            throw ClientError.journal("\(file.lastPathComponent) cannot be read: \(error)")
        }
    }

    private func remove(_ file: URL) throws {
        if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
    }

    private func write(_ data: Data, to file: URL) throws {
        let isMade = FileManager.default.createFile(
            atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
        guard isMade else { throw ClientError.journal("\(file.path) cannot be written") }
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try handle.write(contentsOf: data)
        try handle.synchronize()
    }

    /// A name is on the disk once its directory is.
    private func synchronizeDirectory() throws {
        let handle = try FileHandle(forReadingFrom: directory)
        defer { try? handle.close() }
        try handle.synchronize()
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys]
        return encoder
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}
