"""The table of the dtypes that an operator takes on each device."""

ORDER = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16",
         "int8", "uint8", "bool"]
MARKS = {"native": ("●", "a kernel of the device"),
         "composed": ("◐", "made of other operators"),
         "cpu": ("○", "on the CPU, and back")}


class DtypeTable:
    def __init__(self, listed, devices):
        """`listed` is as `sy facts` has it; `devices` come first."""
        self.marks = MARKS
        ways = {device: {dtype: way for way, dtypes in rows
                         for dtype in dtypes.split(",")}
                for device, rows in listed.items()}
        known = {dtype for row in ways.values() for dtype in row}
        self.dtypes = ORDER + sorted(known - set(ORDER))
        order = devices + sorted(set(ways) - set(devices))
        self.rows = [(device, ways.get(device, {})) for device in order]
        self.legend = [way for way in MARKS
                       if any(way in row.values() for _, row in self.rows)]

    def sentence(self):
        """For readers who want no table: the dtypes that the first device
        takes, or those that it does not, if that is shorter."""
        for device, row in self.rows:
            has = [f"`{d}`" for d in self.dtypes if d in row]
            lacks = [f"`{d}`" for d in self.dtypes if d not in row]
            if not lacks:
                return f"All dtypes on {device}."
            if has and len(has) <= len(lacks):
                return f"On {device}: {', '.join(has)}."
            if has:
                return f"All dtypes on {device} but {', '.join(lacks)}."
        return ""
