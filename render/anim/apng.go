package anim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"time"

	"github.com/longterm-dev/longterm/render/pixel"
)

// NewAPNG writes an animated PNG (PNG specification, third edition): true colour, each picture as large as the changed
// area. The number of pictures precedes them, so the writer seeks back at the end.
func NewAPNG(w io.WriteSeeker, cols, rows int, o pixel.Options) (Writer, error) {
	return newPixels(cols, rows, o, func(image.Point) encoder { return &apng{w: w} })
}

const pngSignature = "\x89PNG\r\n\x1a\n"

// frameCountPos is the file position of the number of frames: after the signature, IHDR and the head of acTL.
const frameCountPos = 8 + 25 + 8

// apng writes an animated PNG.
type apng struct {
	w        io.WriteSeeker
	frames   uint32
	sequence uint32
	ticks    int64 // duration of the frames so far, in milliseconds
}

func (a *apng) frame(img *image.RGBA, _, end time.Duration) error {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.DefaultCompression}
	if err := encoder.Encode(&b, img); err != nil {
		return err
	}
	header, data, err := pngData(b.Bytes())
	if err != nil {
		return err
	}
	var out []byte
	if a.frames == 0 {
		out = append(out, pngSignature...)
		out = appendChunk(out, "IHDR", header)
		out = appendChunk(out, "acTL", make([]byte, 8)) // plays: 0, for ever
	}
	delay := min(max(end.Milliseconds()-a.ticks, 1), 0xffff)
	a.ticks += delay
	r := img.Bounds()
	control := binary.BigEndian.AppendUint32(nil, a.sequence)
	for _, n := range [...]int{r.Dx(), r.Dy(), r.Min.X, r.Min.Y} {
		control = binary.BigEndian.AppendUint32(control, uint32(n))
	}
	control = binary.BigEndian.AppendUint16(control, uint16(delay))
	control = binary.BigEndian.AppendUint16(control, 1000) // of a second
	out = appendChunk(out, "fcTL", append(control, 0, 0))  // the picture stays, the next one replaces
	a.sequence++
	if a.frames == 0 {
		out = appendChunk(out, "IDAT", data)
	} else {
		out = appendChunk(out, "fdAT", append(binary.BigEndian.AppendUint32(nil, a.sequence), data...))
		a.sequence++
	}
	a.frames++
	_, err = a.w.Write(out)
	return err
}

func (a *apng) close() error {
	if _, err := a.w.Write(appendChunk(nil, "IEND", nil)); err != nil {
		return err
	}
	number := binary.BigEndian.AppendUint32(nil, a.frames)
	control := appendChunk(nil, "acTL", append(number, 0, 0, 0, 0))
	if _, err := a.w.Seek(frameCountPos, io.SeekStart); err != nil {
		return fmt.Errorf("write the number of pictures: %w", err)
	}
	if _, err := a.w.Write(control[8:]); err != nil {
		return err
	}
	_, err := a.w.Seek(0, io.SeekEnd)
	return err
}

// appendChunk appends a PNG chunk.
func appendChunk(dst []byte, kind string, data []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data)))
	start := len(dst)
	dst = append(append(dst, kind...), data...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
}

// pngData returns the header and the compressed pixels of a PNG file.
func pngData(file []byte) (header, data []byte, err error) {
	for at := len(pngSignature); at+12 <= len(file); {
		n := int(binary.BigEndian.Uint32(file[at:]))
		if at+12+n > len(file) {
			break
		}
		switch body := file[at+8 : at+8+n]; string(file[at+4 : at+8]) {
		case "IHDR":
			header = body
		case "IDAT":
			data = append(data, body...)
		case "IEND":
			return header, data, nil
		}
		at += 12 + n
	}
	return nil, nil, fmt.Errorf("PNG: truncated (%d bytes)", len(file))
}
