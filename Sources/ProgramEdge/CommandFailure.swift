public import ArgumentParser
// The C library's `stdout` is a variable that nobody changes.
@preconcurrency import Foundation

/// Why a command ended, in words for a person, with the exit code.
public struct CommandFailure: Error {
    /// The exit codes of the programs; 0 is done.
    public enum Code: Int32, Sendable {
        /// Something was found that must not be.
        case finding = 1
        /// The command or the configuration makes no sense.
        case usage = 2
        /// Something that the command needs cannot be reached.
        case unavailable = 3
    }

    /// Which kind of end it is.
    public let code: Code
    /// What a person is told.
    public let message: String

    /// A failure of this kind, with what a person is told.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension AsyncParsableCommand {
    /// Parses the arguments of the process, runs the command that they name, and ends the process with its exit code.
    public static func runToTheEnd() async {
        TerminationSignal.endProcessOne()
        // TLS libraries would write the keys of every session to a file: card data in clear for whoever reads it.
        unsetenv("SSLKEYLOGFILE")
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            endIfUnwritten()
        } catch let failure as CommandFailure {
            let program = configuration.commandName ?? _commandName
            warn("\(program): \(failure.message)")
            end(failure.code.rawValue)
        } catch {
            let code = exitCode(for: error)
            guard code != ExitCode.validationFailure else {
                warn(fullMessage(for: error))
                end(CommandFailure.Code.usage.rawValue)
            }
            guard code.isSuccess else { exit(withError: error) }
            // Help that was asked for.
            print(fullMessage(for: error))
            endIfUnwritten()
            end(code.rawValue)
        }
    }

    /// Writes what is still to be written of the results. A list that is cut off must not look like a whole one, so the
    /// command is not done where a write failed.
    private static func endIfUnwritten() {
        errno = 0
        guard fflush(stdout) != 0 || ferror(stdout) != 0 else { return }
        let words = errno == 0 ? "a write failed" : String(cString: strerror(errno))
        warn("\(configuration.commandName ?? _commandName): standard output cannot be written: \(words)")
        end(CommandFailure.Code.unavailable.rawValue)
    }

    /// Ends the process at once. What libraries do at an exit would take away what threads of theirs still use: a
    /// transport that was just made loads certificates while OpenSSL frees its locks.
    private static func end(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
    }
}
