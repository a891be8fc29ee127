// Charts of an experiment.

// Variants keep their colour, shape and dashes in all charts; the ninth has the first one's colour and
// another shape.
const dashes = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4]];
const dash = index => dashes[index % dashes.length];
const lineOf = (index, label, points, more = {}) => line(label, points, own(index),
    { pointStyle: shapes[(index + 3 * Math.floor(index / 8)) % shapes.length], borderDash: dash(index), ...more });
const many = data.variants.length > 1;

// ---- the ratios ----

// Drawn by their logarithms, so that half and double are equally far from 1.
const percent = ratio => (ratio < 1 ? '−' : ratio > 1 ? '+' : '')
    + Number(Math.abs((ratio - 1) * 100).toPrecision(3)) + ' %';
const ratioText = ratio => ratio >= 2 || ratio <= 0.5 ? Number(ratio.toPrecision(3)) + ' times' : percent(ratio);
// An interval of few blocks may be so wide that nothing else could be seen: it goes on beyond the chart.
const ratioSpan = () => {
    const counted = data.ratios.flatMap(one => one.blocks.filter(each => !each.voided).map(each => Math.log(each.ratio)));
    const ends = data.ratios.flatMap(one => one.interval || []).map(each => Math.log(Math.max(each, 1e-300)));
    const band = Math.log(1 + data.margin) * 1.5;
    const least = Math.min(-band, ...counted), most = Math.max(band, ...counted);
    const low = Math.max(Math.min(least, ...ends), least - (most - least));
    const high = Math.min(Math.max(most, ...ends), most + (most - least));
    return [low - (high - low) * 0.06, high + (high - low) * 0.06];
};
const isNear = (low, high) => high - low < 1.2;  // percents say more than factors
const ratioTicks = (low, high, most) => {
    const inside = ratio => Math.log(ratio) >= low && Math.log(ratio) <= high;
    if (isNear(low, high)) {
        const width = (Math.exp(high) - Math.exp(low)) * 100;
        const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50].find(each => width / each <= most) || 100;
        const ratios = [];
        for (let at = -100; at <= 400; ++at) ratios.push(1 + at * step / 100);
        return ratios.filter(ratio => ratio > 0 && inside(ratio));
    }
    const powers = Array.from({ length: 25 }, (_, index) => 10 ** (index - 12));
    for (const firsts of [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1]]) {
        const ratios = powers.flatMap(power => firsts.map(first => first * power)).filter(inside);
        if (ratios.length <= most) return ratios;
    }
    return [1];
};

const band = {
    id: 'band',
    beforeDatasetsDraw(chart) {
        const { ctx, chartArea: area, scales: { x } } = chart;
        const half = Math.log(1 + data.margin);
        const left = x.getPixelForValue(-half), right = x.getPixelForValue(half);
        const one = x.getPixelForValue(0);
        ctx.save();
        ctx.fillStyle = faded(colour('--soft'), 0.16);
        ctx.fillRect(left, area.top, right - left, area.height);
        ctx.strokeStyle = colour('--ink');
        ctx.lineWidth = 1;
        ctx.beginPath();
        ctx.moveTo(one, area.top);
        ctx.lineTo(one, area.bottom);
        ctx.stroke();
        ctx.restore();
    }
};

const ratioChart = () => {
    const [low, high] = ratioSpan();
    const tick = ratio => isNear(low, high) ? percent(Number(ratio.toFixed(6))) : '×' + Number(ratio.toPrecision(3));
    const rows = data.ratios;
    const sets = rows.flatMap((one, row) => {
        const stroke = own(one.variant);
        const blocks = one.blocks.map((each, index) => ({
            x: Math.log(each.ratio), y: row - 0.38 + 0.3 * (index + 0.5) / one.blocks.length, of: each
        }));
        const mean = { x: Math.log(one.mean), y: row + 0.14, of: one };
        const ends = (one.interval || []).map(each =>
            ({ x: Math.log(Math.max(each, 1e-300)), y: row + 0.14, of: one }));
        return [
            {
                data: blocks, showLine: false, pointStyle: blocks.map(each => each.of.voided ? 'crossRot' : 'circle'),
                pointRadius: 4, pointHoverRadius: 6, borderWidth: 1.4, backgroundColor: 'transparent',
                borderColor: blocks.map(each => each.of.voided ? colour('--soft') : stroke)
            },
            {
                data: one.mean === null ? [] : ends.length === 2 ? [ends[0], mean, ends[1]] : [mean],
                borderColor: stroke, backgroundColor: stroke, borderWidth: 2.4,
                pointStyle: ends.length === 2 ? ['line', 'rectRot', 'line'] : ['rectRot'],
                pointRotation: ends.length === 2 ? [90, 0, 90] : 0, pointRadius: 7, pointHoverRadius: 9
            }
        ];
    });
    const text = item => item.raw.of === rows[Math.round(item.raw.y)]
        ? 'mean ' + ratioText(item.raw.of.mean)
            + (item.raw.of.interval ? ' (' + item.raw.of.interval.map(ratioText).join(' to ') + ')' : '')
        : 'block ' + item.raw.of.block + ': ' + ratioText(item.raw.of.ratio) + (item.raw.of.voided ? ', voided' : '');
    const narrow = document.body.clientWidth < 640;
    const short = label => label.length > (narrow ? 14 : 32) ? label.slice(0, narrow ? 13 : 31) + '…' : label;
    const better = data.higher ? 'lower ← → higher' : 'less ← → more';
    const made = options(
        {
            x: axis((narrow ? '' : 'ratio to ' + data.baseline + ', ') + better, {
                min: low, max: high, ticks: { callback: at => tick(Math.exp(at)), autoSkip: false },
                afterBuildTicks: scale => {
                    scale.ticks = ratioTicks(low, high, narrow ? 5 : 11).map(ratio => ({ value: Math.log(ratio) }));
                }
            }),
            y: axis('', {
                min: -0.5, max: rows.length - 0.5, reverse: true, title: { display: false },
                ticks: { callback: at => short(rows[at].label), autoSkip: false, color: colour('--ink') },
                afterBuildTicks: scale => { scale.ticks = rows.map((_, value) => ({ value })); }
            })
        },
        { title: items => items[0] && rows[Math.round(items[0].raw.y)].label, label: text }, false);
    made.interaction = { mode: 'nearest', axis: 'xy', intersect: true };
    made.normalized = false;
    return { type: 'line', plugins: [band], data: { datasets: sets }, options: made };
};

// ---- growth with a size ----

const growthChart = () => {
    const lines = data.growths.filter(one => one.points.length > 0);
    const all = index => lines.flatMap(one => one.points.map(each => each[index]));
    const sizes = all(0), times = all(1);
    return {
        type: 'line',
        data: {
            datasets: lines.map((one, index) => lineOf(index, one.label, one.points.map(([x, y]) => ({ x, y }))))
        },
        options: options(
            {
                x: axis(data.size + ' (logarithmic)', { type: 'logarithmic', min: Math.min(...sizes) / 1.25, max: Math.max(...sizes) * 1.25 }),
                y: axis('latency (logarithmic)', { type: 'logarithmic', min: Math.min(...times) / 1.25, max: Math.max(...times) * 1.25,
                    ticks: { callback: latencyTick, autoSkip: true } })
            },
            { title: items => number(items[0].raw.x) + ' ' + data.size, label: item => ' ' + item.dataset.label + ': ' + latency(item.raw.y) }, true)
    };
};

// ---- over time ----

const plain = value => value >= 100 ? number(value) : String(Number(value.toPrecision(3)));

const course = (one, values) => one.times.slice(0, values.length).map((of, index) =>
    ({ x: (of.start + of.end) / 2, y: values[index], of }));
const spanTitle = items => {
    const of = items[0].raw.of;
    return elapsed(of.start) + ' – ' + elapsed(of.end) + (of.warmup ? ' (warm-up)' : '')
        + (of.together > 1 ? ', ' + of.together + ' intervals' : '');
};
const timeChart = (key, title, show) => () => {
    const runs = key !== 'rate' ? [] : data.variants.flatMap((one, index) => one.runs.map(values =>
        line('', course(one, values), faded(own(index), 0.35),
            { borderWidth: 0.8, marked: null, pointHitRadius: 0, pointHoverRadius: 0 })));
    const made = options(
        { x: timeAxis(), y: axis(title, { beginAtZero: true, grace: '8%', ticks: { callback: plain } }) },
        { title: spanTitle, label: item => ' ' + (many ? item.dataset.label + ': ' : '') + show(item.raw.y) }, many);
    made.plugins.legend.labels.filter = item => item.text !== '';
    made.plugins.tooltip.filter = item => item.dataset.label !== '';
    return {
        type: 'line',
        plugins: [warmup],
        // What is first in the list is drawn on top.
        data: {
            datasets: [...data.variants.map((one, index) => lineOf(index, one.label, course(one, one[key]))), ...runs]
        },
        options: made
    };
};

show({
    'chart-ratios': ratioChart,
    'chart-growth': growthChart,
    'chart-rate': timeChart('rate', 'messages / min', value => number(value) + ' messages/min'),
    'chart-distribution': () => tailChart(data.variants.flatMap((one, index) => one.tail.length === 0 ? []
        : [lineOf(index, one.label, tail(one.tail))]), many),
    'chart-user': timeChart('user', 'processors', value => number(value) + ' processors'),
    'chart-system': timeChart('system', 'processors', value => number(value) + ' processors'),
    'chart-iowait': timeChart('iowait', 'processors', value => number(value) + ' processors'),
    'chart-writes': timeChart('writes', 'writes / s', value => number(value) + ' writes/s'),
    'chart-flushes': timeChart('flushes', 'flushes / s', value => number(value) + ' flushes/s'),
    'chart-busy': timeChart('busy', 'busy (%)', value => number(value) + ' %')
});
