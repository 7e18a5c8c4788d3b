public import Foundation

/// What a program that a test started has printed so far.
///
/// The program writes into a file that has no name, and the test reads it from its beginning. A pipe with a
/// `readabilityHandler` is no alternative on Linux: programs that are started at the same moment inherit the pipe for
/// a short time, so libdispatch hears of a descriptor that was closed and forgotten. Tests crashed and hung by that.
public final class ProgramOutput: Sendable {
    private let descriptor: Int32

    /// Creates the file.
    /// - Throws: `POSIXError` if the directory for temporary files takes none.
    public init() throws {
        var template = Array("\(NSTemporaryDirectory())/reconciled-output-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0, unlink(template) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    deinit { close(descriptor) }

    /// For `Process.standardOutput` or `Process.standardError`; valid as long as this object.
    public var handle: FileHandle { FileHandle(fileDescriptor: descriptor, closeOnDealloc: false) }

    /// All that was printed; bytes that are no UTF-8 are replaced.
    public var text: String {
        var printed: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = pread(descriptor, &buffer, buffer.count, off_t(printed.count))
            guard count > 0 else { return String(decoding: printed, as: UTF8.self) }
            printed += buffer[..<count]
        }
    }
}
