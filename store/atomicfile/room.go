package atomicfile

import (
	"errors"
	"os"
)

// roomWanted is what there has to be room for, bytes: a small database and what belongs to it.
const roomWanted = 64 << 10

// Room tries whether a file of a few pages can be written to a directory, and is why it cannot: no space is left, nobody may
// write there. For who has to say why something else failed, whose own words for it went to a log on the same disk.
func Room(dir string) error { return disk{}.room(dir) }

func (d disk) room(dir string) error {
	f, err := os.CreateTemp(dir, ".room-*.tmp")
	if err != nil {
		return err
	}
	w := d.wrapped(f)
	_, err = w.Write(make([]byte, roomWanted))
	return errors.Join(err, w.Close(), removed(f.Name()))
}
