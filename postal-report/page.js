// Draws the three charts from the data element. Chart.js stands before this script.
(() => {
    'use strict';
    const data = JSON.parse(document.getElementById('chart-data').textContent);
    const single = data.series.length === 1;
    const charts = [];

    const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const own = index => colour('--s' + index % 8);
    const faded = (hex, share) => hex + Math.round(share * 255).toString(16).padStart(2, '0');

    const number = value => value >= 100 || Number.isInteger(value)
        ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3);
    const latency = us => {
        const [value, unit] = us < 1e3 ? [us, 'µs'] : us < 1e6 ? [us / 1e3, 'ms'] : [us / 1e6, 's'];
        return (value >= 99.95 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))) + ' ' + unit;
    };
    const elapsed = s => {
        const whole = Math.round(s * 10) / 10;
        if (longest < 180) return whole + ' s';
        const two = n => String(n).padStart(2, '0');
        const seconds = Math.round(whole), hours = Math.floor(seconds / 3600);
        const minutes = two(Math.floor(seconds / 60) % 60);
        if (longest < 10800) return Math.floor(seconds / 60) + ':' + two(seconds % 60);
        return hours + ':' + minutes + (seconds % 60 ? ':' + two(seconds % 60) : '') + ' h';
    };
    const longest = Math.max(1, ...data.series.map(one => one.intervals.length
        ? one.intervals[one.intervals.length - 1][1] : 0));

    // Steps that people count time in, so that no tick stands at 0:37.
    const timeStep = () => [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400]
        .find(step => longest / step <= 12) || Math.ceil(longest / 10 / 86400) * 86400;

    // An interval of a record is [start_s, end_s, messages, p50_us, p99_us, warmup, partial, together].
    const [START, END, MESSAGES, P50, P99, WARMUP, PARTIAL, TOGETHER] = [0, 1, 2, 3, 4, 5, 6, 7];
    const kindOf = one => one[WARMUP] && one[PARTIAL] ? 'warm-up, partial' : one[WARMUP] ? 'warm-up'
        : one[PARTIAL] ? 'partial' : '';

    // A message a minute, whatever an interval's length; 0 where nothing came.
    const steps = one => {
        const points = one.intervals.map(each => ({ x: each[START], y: each[MESSAGES], of: each }));
        const last = one.intervals[one.intervals.length - 1];
        if (last) points.push({ x: last[END], y: last[MESSAGES], of: last });
        return points;
    };
    const middles = (one, column) => one.intervals.map(each =>
        ({ x: (each[START] + each[END]) / 2, y: each[column], of: each }));

    const dashed = context => kindOf(context.p0.raw.of) ? [5, 4] : undefined;

    // A band behind the chart where the warm-up was, with its name.
    const warmup = {
        id: 'warmup',
        beforeDatasetsDraw(chart) {
            const seconds = Math.min(...data.series.map(one => one.warmup_s));
            if (!(seconds > 0)) return;
            const { ctx, chartArea: area, scales: { x } } = chart;
            const right = Math.min(x.getPixelForValue(seconds), area.right);
            ctx.save();
            ctx.fillStyle = faded(colour('--soft'), 0.1);
            ctx.fillRect(area.left, area.top, right - area.left, area.height);
            ctx.fillStyle = colour('--soft');
            ctx.font = '11px ' + Chart.defaults.font.family;
            if (right - area.left > 60) ctx.fillText('warm-up', area.left + 6, area.top + 14);
            ctx.restore();
        }
    };

    // Series are told apart without colours, too: by the marks on some of their points, of which there
    // are about as many whatever the length of the line. A point between two gaps is always marked.
    const shapes = ['circle', 'rect', 'triangle', 'rectRot', 'crossRot', 'star', 'rectRounded', 'cross'];
    const marks = 12;
    const marked = more => context => {
        const points = context.dataset.data, at = context.dataIndex;
        const gap = index => !points[index] || points[index].y === null;
        const every = Math.max(1, Math.floor(points.length / marks));
        return gap(at - 1) && gap(at + 1) ? 3 : more && at % every === Math.floor(every / 2) ? 4 : 0;
    };

    const grid = () => ({ color: colour('--line'), borderColor: colour('--line'), tickColor: colour('--line') });
    const axis = (title, more = {}) => ({
        type: 'linear', title: { display: true, text: title, color: colour('--soft') },
        grid: grid(), ...more, ticks: { color: colour('--soft'), maxRotation: 0, ...more.ticks }
    });
    const timeUnit = longest < 180 ? 's' : longest < 10800 ? 'min:s' : 'h:min';
    const timeAxis = () => axis('elapsed time (' + timeUnit + ')', {
        min: 0, max: longest, ticks: { stepSize: timeStep(), callback: elapsed, includeBounds: false }
    });
    // Ticks at 1, 2 and 5; the axis leaves out those for which there is no room.
    const latencyTick = us => {
        const first = us / 10 ** Math.floor(Math.log10(us) + 1e-9);
        return [1, 2, 5].some(wanted => Math.abs(first - wanted) < 0.01) ? latency(us) : null;
    };
    const tooltip = more => ({
        backgroundColor: colour('--ink'), titleColor: colour('--card'), bodyColor: colour('--card'),
        footerColor: colour('--card'), padding: 9, cornerRadius: 6, boxPadding: 4, callbacks: more
    });
    const legend = shown => ({
        display: shown, align: 'start',
        labels: { color: colour('--ink'), usePointStyle: true, boxWidth: 22, padding: 14, font: { size: 12 } }
    });
    const options = (scales, callbacks, shown) => ({
        responsive: true, maintainAspectRatio: false, animation: false, normalized: true,
        interaction: { mode: 'nearest', axis: 'x', intersect: false },
        scales, plugins: { legend: legend(shown), tooltip: tooltip(callbacks) }
    });
    const line = (label, points, stroke, more = {}) => ({
        label, data: points, borderColor: stroke, backgroundColor: faded(stroke, 0.16), borderWidth: 1.8,
        pointRadius: marked(!single), pointStyle: 'circle', pointHoverRadius: 5, pointHitRadius: 8, ...more
    });

    const spanTitle = items => {
        const of = items[0].raw.of;
        const kind = kindOf(of);
        return elapsed(of[START]) + ' – ' + elapsed(of[END]) + (kind ? ' (' + kind + ')' : '')
            + (of[TOGETHER] > 1 ? ', ' + of[TOGETHER] + ' intervals' : '');
    };

    const rateChart = () => ({
        type: 'line',
        plugins: [warmup],
        data: {
            datasets: data.series.map((one, index) => line(one.label, steps(one), own(index), {
                stepped: true, pointStyle: shapes[index % shapes.length], fill: single ? 'origin' : false,
                segment: {
                    borderDash: dashed,
                    backgroundColor: context => kindOf(context.p0.raw.of) ? faded(own(index), 0.06) : undefined
                }
            }))
        },
        options: options(
            { x: timeAxis(), y: axis('messages / min', { beginAtZero: true, grace: '10%', ticks: { callback: number } }) },
            { title: spanTitle, label: item => ' ' + (single ? '' : item.dataset.label + ': ') + number(item.raw.y)
                + ' messages/min' },
            !single)
    });

    const latencyChart = () => {
        const values = data.series.flatMap(one => one.intervals.flatMap(each => [each[P50], each[P99]]))
            .filter(value => value > 0);
        const wide = values.length > 0 && Math.max(...values) / Math.min(...values) > 12;
        const sets = data.series.flatMap((one, index) => {
            const of = single ? '' : one.label + ' ';
            return [
                line(of + 'p99', middles(one, P99), single ? colour('--p99') : own(index),
                    { pointRadius: marked(true), pointStyle: single ? 'triangle' : shapes[index % shapes.length], segment: single ? { borderDash: dashed } : {} }),
                line(of + (single ? 'p50' : 'p50 (dotted)'), middles(one, P50), own(index),
                    { pointRadius: marked(true), pointStyle: single ? 'circle' : shapes[index % shapes.length], borderDash: single ? undefined : [2, 3], segment: single ? { borderDash: dashed } : {} })
            ];
        });
        return {
            type: 'line',
            plugins: [warmup],
            data: { datasets: sets },
            options: options(
                { x: timeAxis(), y: wide
                    ? axis('latency (logarithmic)', { type: 'logarithmic', min: Math.min(...values) / 1.25, max: Math.max(...values) * 1.25, ticks: { callback: latencyTick, autoSkip: true } })
                    : axis('latency', { beginAtZero: true, grace: '8%', ticks: { callback: latency } }) },
                { title: spanTitle, label: item => ' ' + item.dataset.label + ': ' + latency(item.raw.y) },
                true)
        };
    };

    // A point of a tail is [one in how many was slower, latency_us]: the axis stretches what lies
    // beyond 99 % as far as what lies before it.
    const tail = points => points.map(each => ({ x: each[0], y: each[1], of: each }));
    const percentile = oneIn => {
        const nines = Math.max(0, Math.ceil(Math.log10(oneIn) - 1e-9) - 2);
        return String(Number((100 - 100 / oneIn).toFixed(nines + 1)));
    };
    const percentileTick = oneIn => [1, 2].includes(oneIn) || Math.abs(Math.log10(oneIn) % 1) < 1e-9 ? percentile(oneIn) : null;
    const distributionChart = () => {
        const sets = data.series.flatMap((one, index) => {
            const of = single ? '' : one.label + ' ';
            const shape = { pointStyle: shapes[index % shapes.length], pointRadius: marked(true) };
            const shown = [line(of + one.phase, tail(one.message), own(index), shape)];
            if (one.service.length > 0) {
                shown.push(line(of + 'service (dashed)', tail(one.service), single ? own(1) : own(index),
                    { ...shape, borderDash: [4, 3], ...(single ? { pointStyle: 'rect' } : {}) }));
            }
            return shown;
        });
        const values = data.series.flatMap(one => [...one.message, ...one.service]);
        const slow = values.map(each => each[1]).filter(us => us > 0);
        return {
            type: 'line',
            data: { datasets: sets },
            options: options(
                {
                    x: axis('percentile (%)', { type: 'logarithmic', min: 1, max: Math.max(10, ...values.map(each => each[0])),
                        ticks: { callback: percentileTick, autoSkip: false } }),
                    y: axis('latency (logarithmic)', { type: 'logarithmic', min: Math.min(...slow) / 1.25, max: Math.max(...slow) * 1.25,
                        ticks: { callback: latencyTick, autoSkip: true } })
                },
                {
                    title: items => percentile(items[0].raw.x) + ' % took no longer',
                    label: item => ' ' + item.dataset.label + ': ' + latency(item.raw.y)
                },
                true)
        };
    };

    const draw = (id, make) => {
        const canvas = document.querySelector('#' + id + ' canvas');
        if (canvas) charts.push(new Chart(canvas, make()));
    };
    const drawAll = () => {
        while (charts.length) charts.pop().destroy();
        Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
        Chart.defaults.font.size = 12;
        draw('chart-rate', rateChart);
        draw('chart-latency', latencyChart);
        draw('chart-distribution', distributionChart);
    };
    drawAll();
    // Canvases do not follow a style sheet: they are drawn again for the other scheme and for paper.
    for (const query of ['(prefers-color-scheme: dark)', 'print']) {
        matchMedia(query).addEventListener('change', drawAll);
    }
    addEventListener('beforeprint', () => {
        for (const details of document.querySelectorAll('details')) details.open = true;
    });
})();
