package journal

import (
	"fmt"
	"time"
)

// Kind is the kind of a record.
type Kind uint8

// Kinds. Numbers are part of the format; readers skip unknown ones.
const (
	KindOutput Kind = 1 // Data: bytes the program printed
	KindResize Kind = 2 // Cols, Rows: the terminal's size from here on
	KindExit   Kind = 3 // Exit: the program ended
	KindGap    Kind = 4 // Lost: number of bytes that were printed and are not stored
	KindMark   Kind = 5 // Data: a Mark, or what the caller put there
)

func (k Kind) String() string {
	switch k {
	case KindOutput:
		return "output"
	case KindResize:
		return "resize"
	case KindExit:
		return "exit"
	case KindGap:
		return "gap"
	case KindMark:
		return "mark"
	case kindBlock:
		return "block"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Record is one entry of a journal. The fields in use depend on the kind.
type Record struct {
	Kind   Kind
	Offset uint64    // journal offset: output bytes before the record
	Time   time.Time // time of the append; zero for a gap caused by damage

	Data       []byte // valid until the Reader's next call
	Cols, Rows int    // cells
	Exit       Exit
	// Lost counts the bytes of a gap. It is 0 if damage hit only records without output.
	Lost uint64
}

// Exit describes how a program ended.
type Exit struct {
	Code         int // exit status; -1 when a signal ended it
	Signal       int // its number, 0 when none
	User, System time.Duration
	MaxRSS       int64 // bytes
}

const exitSize = 32

func appendExit(dst []byte, e Exit) []byte {
	dst = le.AppendUint32(dst, uint32(int32(e.Code)))
	dst = le.AppendUint32(dst, uint32(int32(e.Signal)))
	dst = le.AppendUint64(dst, uint64(e.User))
	dst = le.AppendUint64(dst, uint64(e.System))
	return le.AppendUint64(dst, uint64(e.MaxRSS))
}

func decodeExit(p []byte) Exit {
	return Exit{
		Code: int(int32(le.Uint32(p))), Signal: int(int32(le.Uint32(p[4:]))),
		User: time.Duration(le.Uint64(p[8:])), System: time.Duration(le.Uint64(p[16:])),
		MaxRSS: int64(le.Uint64(p[24:])),
	}
}

// record decodes r. ok is false for unknown kinds and unknown forms. Payloads of later versions may be longer.
func (r *raw) record() (rec Record, ok bool) {
	rec = Record{Kind: r.kind, Offset: r.offset, Time: time.Unix(0, r.time)}
	switch p := r.payload; {
	case r.kind == KindOutput, r.kind == KindMark:
		rec.Data = p
	case r.kind == KindResize && len(p) >= 8:
		rec.Cols, rec.Rows = int(int32(le.Uint32(p))), int(int32(le.Uint32(p[4:])))
	case r.kind == KindExit && len(p) >= exitSize:
		rec.Exit = decodeExit(p)
	case r.kind == KindGap && len(p) >= 8:
		rec.Lost = r.span()
		if r.time == 0 {
			rec.Time = time.Time{} // what damage was rewritten as
		}
	default:
		return Record{}, false
	}
	return rec, true
}
