package journal

// walker iterates over the records of a segment, including those inside blocks.
type walker struct {
	scanner
	block *block // current block, or nil
	index int    // index of the next record in block
	dims  dims   // size before the block, if recorded
	skip  int    // records to skip in the next block
	from  uint64 // blocks that end before this offset are skipped
}

// place is the position of a record in a segment file.
type place struct {
	id    uint32 // id of the segment: another version of it has records at other positions
	pos   int64  // file position; 0: none
	index int    // index in the block at pos
}

// position returns the place of the next record.
func (w *walker) position() place {
	if w.block != nil && w.index < len(w.block.records) {
		return place{w.header.id, w.block.records[w.index].pos, w.index}
	}
	return place{w.header.id, w.next, 0}
}

// seek moves to a place.
func (w *walker) seek(p place) {
	w.releaseBlock()
	w.next, w.skip = p.pos, p.index
}

// releaseBlock releases the current block.
func (w *walker) releaseBlock() {
	if w.block != nil {
		w.block.free()
		w.block = nil
	}
}

func (w *walker) free() {
	w.releaseBlock()
	w.scanner.free()
}

// step returns the next record and the number of file bytes skipped to find it. At the end it returns io.EOF, with the
// same count. The payload is valid until the next call.
func (w *walker) step() (r raw, skipped int64, err error) {
	for {
		if w.block != nil {
			if w.index < len(w.block.records) {
				w.index++
				return w.block.records[w.index-1], skipped, nil
			}
			w.releaseBlock()
		}
		f, n, err := w.scanner.record(w.limit)
		skipped += n
		if err != nil {
			return raw{}, skipped, err
		}
		skip := w.skip
		w.skip = 0
		if f.kind != kindBlock {
			return f, skipped, nil
		}
		if f.offset+f.span() < w.from {
			continue
		}
		if w.block, err = unpack(&f); err != nil {
			skipped += f.size()
			continue
		}
		w.index = skip
		m, _ := decodeBlockMeta(f.payload)
		w.dims = m.dims
	}
}
