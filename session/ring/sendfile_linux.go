package ring

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys/rawio"
)

// canTypeFromFiles reports that input can be typed from a file.
const canTypeFromFiles = true

var sendFileUnsupported = []error{unix.EINVAL, unix.ENOSYS, unix.EPERM, unix.EACCES, unix.EOPNOTSUPP}

// SendPiece writes up to n bytes from the position of a file to a descriptor, and moves the position by that number. It
// is one step: the position is correct even if the process is killed. It returns ErrNoPiece if the descriptor does not
// support that, or the call is not permitted.
func SendPiece(to, file, n int) (int, error) {
	for {
		sent, err := rawio.SendFile(to, file, n)
		switch {
		case err == nil && sent > 0:
			return sent, nil
		case err == nil: // the file ends there: its position is not ours alone
			return 0, ErrNoSendFile
		case errors.Is(err, unix.EINTR):
		case slices.Contains(sendFileUnsupported, err):
			return 0, ErrNoSendFile
		default:
			return 0, err
		}
	}
}
