//go:build unix

package export

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/render/anim"
)

// newVideo encodes a video with ffmpeg. It writes to a temporary file first: the header of an MP4 is rewritten at the
// end, and the output may be a pipe.
func newVideo(format string, codec ...string) filmMaker {
	return func(e *exportParams) (anim.Writer, func() error, error) {
		program, err := exec.LookPath("ffmpeg")
		if err != nil {
			return nil, nil, fmt.Errorf("%s requires ffmpeg, which was not found; install it, or use gif, apng or svg", format)
		}
		o, err := e.film.Look.Pixels(nil)
		if err != nil {
			return nil, nil, err
		}
		dir, err := os.MkdirTemp("", "longterm-video")
		if err != nil {
			return nil, nil, fmt.Errorf("temporary directory for the video: %w", err)
		}
		file := filepath.Join(dir, "video."+format)
		var encoder *encoder
		w, err := anim.NewVideo(e.cols, e.rows, e.film.film.FPS, o, func(size image.Point) (io.WriteCloser, error) {
			encoder, err = startEncoder(program, size, e.film.film.FPS, append(codec, file))
			return encoder, err
		})
		if err != nil {
			return nil, nil, errors.Join(err, os.RemoveAll(dir))
		}
		finish := func() error {
			defer os.RemoveAll(dir)
			if err := encoder.Close(); err != nil {
				return err
			}
			f, err := os.Open(file)
			if err != nil {
				return err
			}
			_, err = io.Copy(e.w, f)
			return errors.Join(err, f.Close())
		}
		return w, finish, nil
	}
}

// encoder is a running encoder that reads frames from a pipe.
type encoder struct {
	io.WriteCloser
	c      *exec.Cmd
	stderr bytes.Buffer // error output of the encoder
	done   bool         // the encoder has exited, with err
	err    error
}

// startEncoder starts an encoder for frames of this size and rate.
func startEncoder(program string, size image.Point, fps float64, args []string) (*encoder, error) {
	c := exec.Command(program, append([]string{
		"-hide_banner", "-loglevel", "error", "-nostdin", "-y", "-f", "rawvideo", "-pixel_format", "rgba",
		"-video_size", fmt.Sprintf("%dx%d", size.X, size.Y), "-framerate", strconv.FormatFloat(fps, 'f', -1, 64), "-i", "pipe:0",
		// Encoders want an even number of pixels, and players this form of colours.
		"-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p",
	}, args...)...)
	e := &encoder{c: c}
	c.Stdout, c.Stderr = &e.stderr, &e.stderr
	var err error
	if e.WriteCloser, err = c.StdinPipe(); err != nil {
		return nil, err
	}
	return e, c.Start()
}

func (e *encoder) Write(p []byte) (int, error) {
	n, err := e.WriteCloser.Write(p)
	if err != nil {
		err = errors.Join(e.Close(), err) // its message is the reason
	}
	return n, err
}

// Close waits until all is encoded. It may be called again.
func (e *encoder) Close() error {
	if e.done {
		return e.err
	}
	e.done = true
	_ = e.WriteCloser.Close()
	if err := e.c.Wait(); err != nil {
		e.err = fmt.Errorf("ffmpeg: %w: %s", err, strings.TrimSpace(e.stderr.String()))
	}
	return e.err
}
