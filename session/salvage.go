package session

import "context"

// salvageMax bounds what one call of Salvage takes, in bytes.
const salvageMax = 1 << 20

// Salvage takes what a terminal still holds after its keeper has died: nobody else fills the
// ring then, so its owner may. read reads without waiting and returns 0 when nothing is left.
// more: the bound was reached before that.
func (s *Session) Salvage(ctx context.Context, read func([]byte) int) (more bool, err error) {
	err = s.do(ctx, func() {
		s.drainAll()
		for taken := 0; s.ring != nil && taken < salvageMax; {
			room := s.ring.Room()
			if len(room) == 0 { // the journal fails; drain makes room in time
				return
			}
			n := read(room)
			if n <= 0 {
				return
			}
			s.ring.Publish(n)
			s.drainAll()
			taken += n
		}
		more = s.ring != nil
	})
	return more, err
}

func (s *Session) drainAll() {
	for s.drain() {
	}
}
