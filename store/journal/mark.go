package journal

import (
	"errors"
	"fmt"
)

// MarkKind is the first byte of a mark and defines the rest. Numbers not named here are the caller's.
//
//	input    0 u8 1   1 u8 kind    2 u16 zero   4 u64 bytes   12 content, or nothing
//	command  0 u8 2   1 u8 phase   2 JSON, or nothing
//	streams  0 u8 3   1 u8 flags   2 runs, see streams.go
type MarkKind uint8

// Kinds of marks. Numbers are part of the format.
const (
	MarkInput   MarkKind = 1
	MarkCommand MarkKind = 2
	MarkStreams MarkKind = 3
)

// InputKind is the origin of input.
type InputKind uint8

// Kinds of input. Numbers are part of the format.
const (
	InputTyped InputKind = 1 // keys, or text sent as such
	InputPaste InputKind = 2
	InputReply InputKind = 3 // the emulator's answer to a query
)

// Input records a write to the terminal.
type Input struct {
	Kind  InputKind
	Bytes int // number of bytes written
	// Data holds the input as far as it is recorded: nothing, all of it, or the start of a long one.
	Data []byte
}

// Phase is the state of a shell's command.
type Phase uint8

// Phases. Numbers are part of the format; they follow the marks A to D of OSC 133.
const (
	PhasePrompt  Phase = 1 // the prompt starts
	PhaseTyping  Phase = 2 // the prompt ended, the command line starts
	PhaseRunning Phase = 3 // the command's output starts
	PhaseDone    Phase = 4 // the command ended
)

// Command records the state of a command that a shell reads or runs.
type Command struct {
	Phase Phase
	JSON  []byte // data of the layer above, which the journal does not interpret
}

const (
	inputHead   = 12
	commandHead = 2
)

// ErrMark is returned for a mark of another kind or an unknown form.
var ErrMark = errors.New("not a mark of this kind")

// MarkKindOf returns the kind of a mark, the Data of a record of KindMark, or 0 if it is empty.
func MarkKindOf(mark []byte) MarkKind {
	if len(mark) == 0 {
		return 0
	}
	return MarkKind(mark[0])
}

// AppendTo appends the mark for in, to be passed to AppendMark. Content beyond a record's limit is cut; Bytes counts
// all of it.
func (in Input) AppendTo(dst []byte) []byte {
	dst = append(dst, byte(MarkInput), byte(in.Kind), 0, 0)
	dst = le.AppendUint64(dst, uint64(max(in.Bytes, 0)))
	return append(dst, in.Data[:min(len(in.Data), MaxPayload-inputHead)]...)
}

// DecodeInput reads an input mark. Data is a part of mark.
func DecodeInput(mark []byte) (Input, error) {
	if MarkKindOf(mark) != MarkInput || len(mark) < inputHead {
		return Input{}, ErrMark
	}
	in := Input{Kind: InputKind(mark[1]), Bytes: int(min(le.Uint64(mark[4:]), maxOffset)), Data: mark[inputHead:]}
	if len(in.Data) > in.Bytes {
		return Input{}, fmt.Errorf("%w: %d bytes of %d", ErrMark, len(in.Data), in.Bytes)
	}
	return in, nil
}

// AppendTo appends the mark for c, to be passed to AppendMark.
func (c Command) AppendTo(dst []byte) []byte {
	return append(append(dst, byte(MarkCommand), byte(c.Phase)), c.JSON...)
}

// DecodeCommand reads a command mark. JSON is a part of mark.
func DecodeCommand(mark []byte) (Command, error) {
	if MarkKindOf(mark) != MarkCommand || len(mark) < commandHead {
		return Command{}, ErrMark
	}
	return Command{Phase: Phase(mark[1]), JSON: mark[commandHead:]}, nil
}
