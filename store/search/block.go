package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// MaxLine is the longest indexed text of a line, in bytes.
	MaxLine = 1 << 20
	// maxBlock is the largest accepted block: an almost full block of short lines and one line of full length.
	maxBlock = 4 << 20

	blockFormat = 1
)

var errBlock = errors.New("damaged block")

// line is a line of a block.
type line struct {
	from, to uint64 // output offsets of the session
	ns       int64  // time, Unix nanoseconds
	command  int    // number of the command
	end      int    // end of its text in the block's text
}

// block is a sequence of lines of one session. Their texts are joined by newlines and contain none.
type block struct {
	lines []line
	text  []byte
}

func (b *block) add(l Line, text string) {
	if len(b.lines) > 0 {
		b.text = append(b.text, '\n')
	}
	b.text = append(b.text, text...)
	b.lines = append(b.lines, line{l.From, l.To, nanos(l.Time), l.Command, len(b.text)})
}

// line returns the text of the i-th line.
func (b *block) line(i int) []byte {
	start := 0
	if i > 0 {
		start = b.lines[i-1].end + 1
	}
	return b.text[start:b.lines[i].end]
}

func (b *block) reset() { b.lines, b.text = b.lines[:0], b.text[:0] }

// stats describes a block so that searches can skip it without reading it.
type stats struct {
	size            int    // bytes of text
	last            uint64 // journal offset of the last line
	firstNS, lastNS int64
	lowCmd, highCmd int
}

func (b *block) stats() stats {
	l := b.lines[len(b.lines)-1]
	s := stats{len(b.text), l.from, l.ns, l.ns, l.command, l.command}
	for _, l := range b.lines {
		s.firstNS, s.lastNS = min(s.firstNS, l.ns), max(s.lastNS, l.ns)
		s.lowCmd, s.highCmd = min(s.lowCmd, l.command), max(s.highCmd, l.command)
	}
	return s
}

// appendBlock appends the encoded block: the text, which readers can skip, and then one column of numbers after the
// other, each as the difference to a likely value.
func appendBlock(dst []byte, b *block) []byte {
	dst = append(dst, blockFormat)
	dst = binary.AppendUvarint(dst, uint64(len(b.lines)))
	dst = binary.AppendUvarint(dst, uint64(len(b.text)))
	dst = append(dst, b.text...)
	prev := line{end: -1}
	for _, l := range b.lines {
		dst = binary.AppendUvarint(dst, uint64(l.end-prev.end-1))
		prev = l
	}
	prev = line{}
	for _, l := range b.lines {
		dst = binary.AppendUvarint(dst, l.from-prev.to)
		prev = l
	}
	prev = line{end: -1}
	for _, l := range b.lines { // most lines are as long in the journal, without their line end
		dst = binary.AppendVarint(dst, int64(l.to-l.from)-int64(l.end-prev.end-1))
		prev = l
	}
	prev = line{}
	for _, l := range b.lines {
		dst = binary.AppendVarint(dst, l.ns-prev.ns)
		prev = l
	}
	prev = line{}
	for _, l := range b.lines {
		dst = binary.AppendVarint(dst, int64(l.command-prev.command))
		prev = l
	}
	return dst
}

// numbers reads varints; after the first invalid one it returns only 0.
type numbers struct {
	b       []byte
	invalid bool
}

func (n *numbers) unsigned() uint64 {
	v, k := binary.Uvarint(n.b)
	return n.take(k) * v
}

func (n *numbers) signed() int64 {
	v, k := binary.Varint(n.b)
	return int64(n.take(k)) * v
}

// take skips k bytes and returns the number that they held; 0: no number.
func (n *numbers) take(k int) uint64 {
	if k <= 0 || n.invalid {
		n.invalid, n.b = true, nil
		return 0
	}
	n.b = n.b[k:]
	return 1
}

// decodeText returns the text of an encoded block, and the columns of numbers after it.
func decodeText(src []byte) (count int, text, columns []byte, err error) {
	if len(src) == 0 || src[0] != blockFormat {
		return 0, nil, nil, fmt.Errorf("%w: unknown format", errBlock)
	}
	in := numbers{b: src[1:]}
	lines, size := in.unsigned(), in.unsigned()
	if in.invalid || size > uint64(len(in.b)) || lines > (uint64(len(in.b))-size)/5 { // each line has five numbers
		return 0, nil, nil, fmt.Errorf("%w: %d lines with %d bytes in %d", errBlock, lines, size, len(src))
	}
	return int(lines), in.b[:size:size], in.b[size:], nil
}

// decodeBlock decodes src into b. The text is a slice of src.
func decodeBlock(b *block, src []byte) error {
	b.reset()
	count, text, columns, err := decodeText(src)
	if err != nil {
		return err
	}
	b.lines = append(b.lines, make([]line, count)...)
	in := numbers{b: columns}
	if end := b.readColumns(&in); in.invalid || len(in.b) > 0 || max(end, 0) != len(text) {
		return fmt.Errorf("%w: %d lines in %d bytes of text", errBlock, count, len(text))
	}
	b.text = text
	return nil
}

// readColumns reads the columns that appendBlock wrote after the text, and returns where the last line ends.
func (b *block) readColumns(in *numbers) (end int) {
	end = -1
	for i := range b.lines {
		end += int(min(in.unsigned(), maxBlock)) + 1
		b.lines[i].end = end
	}
	for i := range b.lines {
		b.lines[i].from = in.unsigned() // behind the line before, until the next column is read
	}
	to, start := uint64(0), 0
	for i := range b.lines {
		l := &b.lines[i]
		l.from += to
		l.to = l.from + uint64(in.signed()+int64(l.end-start))
		to, start = l.to, l.end+1
	}
	ns, command := int64(0), 0
	for i := range b.lines {
		ns += in.signed()
		b.lines[i].ns = ns
	}
	for i := range b.lines {
		command += int(in.signed())
		b.lines[i].command = command
	}
	return end
}

// Both are safe for use from several goroutines, and are made on first use.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options are constant
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxBlock))
		if err != nil {
			panic(err)
		}
		return d
	})
)

// pack compresses an encoded block; the frame has a checksum.
func pack(dst, raw []byte) []byte { return encoder().EncodeAll(raw, dst) }

func unpack(dst, packed []byte) ([]byte, error) {
	raw, err := decoder().DecodeAll(packed, dst)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBlock, err)
	}
	return raw, nil
}
