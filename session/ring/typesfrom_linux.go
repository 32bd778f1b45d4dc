package ring

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys/nowait"
)

// typesFromFiles says that a terminal can be typed into out of a file.
const typesFromFiles = true

var noSendFile = []error{unix.EINVAL, unix.ENOSYS, unix.EPERM, unix.EACCES, unix.EOPNOTSUPP}

// SendPiece writes to a descriptor up to n bytes from the position of a file, and moves that by what was written. It is one step:
// who is killed meanwhile has written what the position says. ErrNoPiece: the descriptor takes none so, or nobody may ask.
func SendPiece(to, file, n int) (int, error) {
	for {
		sent, err := nowait.SendFile(to, file, n)
		switch {
		case err == nil && sent > 0:
			return sent, nil
		case err == nil: // the file ends there: its position is not ours alone
			return 0, ErrNoPiece
		case errors.Is(err, unix.EINTR):
		case slices.Contains(noSendFile, err):
			return 0, ErrNoPiece
		default:
			return 0, err
		}
	}
}
