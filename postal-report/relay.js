// Charts of a relay.

const course = (part, column) => part.course.map(of => ({ x: (of[place.start] + of[place.end]) / 2, y: of[column], of }));

// Lines without a name are in neither legend nor tips.
const named = made => {
    made.plugins.legend.labels.filter = item => item.text !== '';
    made.plugins.tooltip.filter = item => item.dataset.label !== '';
    return made;
};
const courseChart = part => () => {
    const there = part.there ? { course: part.there } : null;
    const most = Math.max(1, ...[...part.course, ...part.there ?? []].map(of => of[place.backlog]));
    // Messages come in bursts, and a second alone is nearly nothing or a spike: the mean of its neighbours is drawn, and
    // it itself thin behind it. A tip has the step's own number.
    const reach = Math.min(10, Math.floor(part.course.length / 60));
    const smooth = column => course(part, column).map((point, at, all) => {
        const near = all.slice(Math.max(0, at - reach), at + reach + 1);
        return { ...point, y: near.reduce((sum, each) => sum + each.y, 0) / near.length };
    });
    const raw = (column, stroke) => reach === 0 ? [] : [line('', course(part, column), faded(stroke, 0.35),
        { yAxisID: 'y', borderWidth: 0.8, marked: null, pointHitRadius: 0, pointHoverRadius: 0 })];
    const show = item => item.dataset.yAxisID === 'y'
        ? number(item.raw.of[place[item.dataset.label]]) + ' messages/min' : number(item.raw.y) + ' messages';
    return {
        type: 'line',
        data: {
            datasets: [
                line('accepted', smooth(place.accepted), own(0), { yAxisID: 'y', pointStyle: 'circle' }),
                line('delivered', smooth(place.delivered), own(2),
                    { yAxisID: 'y', pointStyle: 'triangle', borderDash: [7, 3] }),
                line('backlog', course(part, place.backlog), own(1),
                    { yAxisID: 'y2', pointStyle: 'rect', fill: 'origin', borderWidth: 1.2 }),
                ...there ? [line('backlog there', course(there, place.backlog), own(3),
                    { yAxisID: 'y2', pointStyle: 'rectRot', borderWidth: 1.2, borderDash: [5, 4] })] : [],
                ...raw(place.accepted, own(0)), ...raw(place.delivered, own(2))
            ]
        },
        options: named(options(
            {
                x: timeAxis(),
                y: axis('messages / min', { beginAtZero: true, grace: '8%', ticks: { callback: number } }),
                y2: axis('backlog (messages)', {
                    axis: 'y', position: 'right', min: 0, max: most * 1.08, grid: { drawOnChartArea: false },
                    ticks: { callback: value => Number.isInteger(value) ? number(value) : null }
                })
            },
            {
                title: items => elapsed(items[0].raw.of[place.start]) + ' – ' + elapsed(items[0].raw.of[place.end]),
                label: item => ' ' + item.dataset.label + ': ' + show(item)
            },
            true))
    };
};

// A colour is one domain's; what of it is dashed, of the other report, needs a name only where there is nothing else of it.
const transitChart = () => {
    const named = new Map([...data.tails].reverse().map(one => [one.colour, one.label]));
    const chart = tailChart(data.tails.map(one => line(one.label, tail(one.points), own(one.colour), {
        pointStyle: shapes[one.colour % shapes.length], borderDash: one.there ? [5, 4] : []
    })), true);
    chart.options.plugins.legend.labels.filter = item => [...named.values()].includes(item.text);
    return chart;
};

show({
    'chart-course': courseChart(data.series[0]),
    'chart-transit': transitChart,
    ...Object.fromEntries(data.parts.map((part, index) => ['chart-part-' + index, courseChart(part)]))
});
