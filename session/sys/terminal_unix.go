//go:build unix

package sys

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// ForegroundGroup returns the foreground process group of a terminal, read at either end. Without one it returns 0, or a number
// that is no process's.
func ForegroundGroup(fd int) (int, error) {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil {
		return 0, fmt.Errorf("find the foreground process group: %w", err)
	}
	return group, nil
}

// SetSize sets a terminal's size in cells and keeps the pixels of a cell. The foreground process group gets SIGWINCH.
func SetSize(fd, cols, rows int) error {
	cell, err := CellSize(fd)
	if err != nil {
		cell = DefaultCell
	}
	return setSize(fd, cols, rows, cell)
}

// SetCellSize sets the pixels of a terminal's cells. The foreground process group gets SIGWINCH if they change.
func SetCellSize(fd int, cell Cell) error {
	cols, rows, err := Size(fd)
	if err != nil {
		return err
	}
	return setSize(fd, cols, rows, cell)
}

// CellSize returns the pixels of a terminal's cells, DefaultCell if it knows none.
func CellSize(fd int) (Cell, error) {
	width, height, cols, rows, err := WindowSize(fd)
	if err != nil {
		return Cell{}, err
	}
	if cols == 0 || rows == 0 || width < cols || height < rows {
		return DefaultCell, nil
	}
	return Cell{width / cols, height / rows}, nil
}

// WindowSize returns a terminal's size in pixels, zeros if it knows none, and in cells.
func WindowSize(fd int) (width, height, cols, rows int, err error) {
	ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, 0, 0, fmt.Errorf("read the size of the terminal: %w", err)
	}
	return int(ws.Xpixel), int(ws.Ypixel), int(ws.Col), int(ws.Row), nil
}

func setSize(fd, cols, rows int, cell Cell) error {
	pixels := func(n, of int) uint16 { return uint16(min(n*of, math.MaxUint16)) }
	ws := unix.Winsize{Col: uint16(cols), Row: uint16(rows), Xpixel: pixels(cols, cell.Width), Ypixel: pixels(rows, cell.Height)}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &ws); err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	return nil
}
