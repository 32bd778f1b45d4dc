// Package termimage converts images that programs sent to a terminal into PNG: sixel, images of the kitty graphics
// protocol, and files of iTerm2.
//
//	vterm.Image (as sent) → decode, within bounds → pixels → new PNG
//
// Images are hostile input: no byte is passed on as it came, sides, pixels and work are bounded, and an undecodable
// image is an error. A truncated sixel image keeps its decoded part.
package termimage

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"weak"

	"github.com/longterm-dev/longterm/vterm"
)

const (
	// MaxPixels is the largest image that is decoded, in pixels.
	MaxPixels = 1 << 23
	// MaxBytes limits a PNG. Of a larger image only every second, third … pixel is kept.
	MaxBytes = 700 << 10
	// maxSent is the number of pixels of the first attempt.
	maxSent = 1 << 21
	// maxScans limits the scans of a JPEG, including those of thumbnails: each may cover all pixels and take few bytes.
	maxScans = 64
	// KeyLen is the length of a key.
	KeyLen = 24
)

var errTooLarge = fmt.Errorf("image: too large (more than %d pixels)", MaxPixels)

// PNG returns an image as a PNG.
func PNG(img *vterm.Image) ([]byte, error) {
	pic, err := Decode(img)
	if err != nil {
		return nil, err
	}
	w, h, by := pic.Rect.Dx(), pic.Rect.Dy(), 1
	for ((w+by-1)/by)*((h+by-1)/by) > maxSent {
		by++
	}
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	for {
		var b bytes.Buffer
		if err := enc.Encode(&b, subsample(pic, by)); err != nil {
			return nil, err
		}
		if b.Len() <= MaxBytes {
			return b.Bytes(), nil
		}
		by++
	}
}

// Decode returns an image's pixels.
func Decode(img *vterm.Image) (*image.NRGBA, error) {
	switch img.Format {
	case vterm.ImageSixel:
		return sixel(img)
	case vterm.ImagePNG:
		return decode(img, png.DecodeConfig, png.Decode)
	case vterm.ImageJPEG:
		if bytes.Count(img.Data, []byte{0xff, 0xda}) > maxScans {
			return nil, errors.New("image: too many scans")
		}
		return decode(img, jpeg.DecodeConfig, jpeg.Decode)
	case vterm.ImageGIF:
		return decode(img, gif.DecodeConfig, gif.Decode)
	case vterm.ImageRGB, vterm.ImageRGBA:
		return raw(img)
	}
	return nil, errors.New("image: unknown format")
}

func newImage(w, h int) (*image.NRGBA, error) {
	if w <= 0 || h <= 0 {
		return nil, errors.New("image: no pixels")
	}
	if w > MaxPixels || h > MaxPixels/w {
		return nil, errTooLarge
	}
	return image.NewNRGBA(image.Rect(0, 0, w, h)), nil
}

func data(img *vterm.Image) (io.Reader, error) {
	r := io.Reader(bytes.NewReader(img.Data))
	if !img.Deflated {
		return r, nil
	}
	return zlib.NewReader(r)
}

// decode decodes an image file after its header has shown an acceptable size.
func decode(img *vterm.Image, head func(io.Reader) (image.Config, error), whole func(io.Reader) (image.Image, error)) (*image.NRGBA, error) {
	r, err := data(img)
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(io.LimitReader(r, 8*MaxPixels))
	if err != nil {
		return nil, err
	}
	c, err := head(bytes.NewReader(all))
	if err != nil {
		return nil, err
	}
	out, err := newImage(c.Width, c.Height)
	if err != nil {
		return nil, err
	}
	pic, err := whole(bytes.NewReader(all))
	if err != nil {
		return nil, err
	}
	draw.Draw(out, pic.Bounds(), pic, pic.Bounds().Min, draw.Src) // the first picture of a GIF may be a part of it
	return out, nil
}

func raw(img *vterm.Image) (*image.NRGBA, error) {
	out, err := newImage(img.Width, img.Height)
	if err != nil {
		return nil, err
	}
	r, err := data(img)
	if err != nil {
		return nil, err
	}
	if img.Format == vterm.ImageRGBA {
		_, err := io.ReadFull(r, out.Pix)
		return out, err
	}
	row := make([]byte, 3*img.Width)
	for y := range img.Height {
		if _, err := io.ReadFull(r, row); err != nil {
			return nil, err
		}
		to := out.Pix[y*out.Stride:]
		for x := range img.Width {
			to[4*x], to[4*x+1], to[4*x+2], to[4*x+3] = row[3*x], row[3*x+1], row[3*x+2], 0xff
		}
	}
	return out, nil
}

// subsample keeps every by-th pixel in each direction.
func subsample(pic *image.NRGBA, by int) *image.NRGBA {
	if by == 1 {
		return pic
	}
	w, h := pic.Rect.Dx(), pic.Rect.Dy()
	out := image.NewNRGBA(image.Rect(0, 0, (w+by-1)/by, (h+by-1)/by))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			from := pic.Pix[y*by*pic.Stride+x*by*4:]
			copy(out.Pix[y*out.Stride+x*4:][:4], from[:4])
		}
	}
	return out
}

// Keys computes keys of images from their content. It must be used by one goroutine and keeps no image. The zero value
// is ready.
type Keys struct {
	known map[weak.Pointer[vterm.Image]]string
}

// maxKeys limits the cached keys: more than a screen shows, because a key costs a hash of the image's data.
const maxKeys = 4096

// Key returns an image's key of KeyLen characters: equal for equal images, and different for others.
func (k *Keys) Key(img *vterm.Image) string {
	at := weak.Make(img)
	if key, known := k.known[at]; known {
		return key
	}
	if k.known == nil || len(k.known) >= maxKeys {
		k.known = map[weak.Pointer[vterm.Image]]string{}
	}
	h := sha256.New()
	fmt.Fprintln(h, img.Format, img.Deflated, img.Width, img.Height)
	_, _ = h.Write(img.Data) // never fails
	key := hex.EncodeToString(h.Sum(nil))[:KeyLen]
	k.known[at] = key
	return key
}
